import glob
import os

from PIL import Image
from torch.utils.data import Dataset
from torchvision import transforms as T

PARTS = {"train": "bounding_box_train", "query": "query", "gallery": "bounding_box_test"}


class Gallery(Dataset):
    def __init__(self, root, name, part):
        self.files = sorted(glob.glob(os.path.join(root, name, PARTS[part], "*.jpg")))
        self.tf = T.Compose([T.Resize((256, 128)), T.ToTensor(), T.Normalize([0.485] * 3, [0.229] * 3)])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        base = os.path.basename(self.files[i])
        pid, cam = base.split("_")[:2]
        return self.tf(Image.open(self.files[i]).convert("RGB")), int(pid), int(cam[1])
