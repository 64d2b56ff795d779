class Config:
    """Everything that can be changed. Make a subclass for your data."""

    NAME = None
    MODEL = "retinanet_resnet50_fpn_v2"
    N_CLASSES = 91
    GPU_COUNT = 1
    IMAGES_PER_GPU = 2
    LEARNING_RATE = 0.0025
    MOMENTUM = 0.9
    EPOCHS = 12
    LR_STEPS = (8, 11)
    SAVE_EVERY = 1
    LOG_DIR = "logs"
    HALF = True
    RESUME = False
    VAL_IMAGES = 4

    @property
    def BATCH_SIZE(self):
        return self.IMAGES_PER_GPU * self.GPU_COUNT

    def show(self):
        for k in sorted(dir(self)):
            if k.isupper():
                print(f"{k:20s} {getattr(self, k)}")


class CocoConfig(Config):
    NAME = "coco"
    EPOCHS = 26
    IMAGES_PER_GPU = 8


class DroneConfig(Config):
    NAME = "drone"
    N_CLASSES = 11
    GPU_COUNT = 2
    IMAGES_PER_GPU = 6
    EPOCHS = 36
    LR_STEPS = (24, 33)
    SAVE_EVERY = 3
    LEARNING_RATE = Config.LEARNING_RATE * 3


class DroneInference(DroneConfig):
    GPU_COUNT = 1
    IMAGES_PER_GPU = 1
    HALF = False
