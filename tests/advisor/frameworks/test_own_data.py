import pytest

from advisor.frameworks.interpreted import statements
from schedmate.advisor.frameworks.own_data import own_datasets
from schedmate.advisor.settle.dataset_names import dataset_name
from schedmate.advisor.settle.meanings import Meaningless, meaning
from schedmate.advisor.settle.vocabulary import field_of

SETS = """
from torch.utils.data import Dataset
class {name}(Dataset):
    def __init__(self, root, split="train"):
        self.root = root
"""


def named(directory, code, *arguments):
    found = statements(directory, code, *arguments, readers=(own_datasets,))
    return [(each.value.data, each.certain) for each in found]


def test_the_path_that_reaches_a_data_set_of_the_job_names_it(tmp_path):
    code = SETS.format(name="Slices") + "ds = Slices('/gpfs/proj/lungct/v3')\n"
    assert named(tmp_path, code) == [("lungct", False)]


def test_else_its_class_does(tmp_path):
    code = SETS.format(name="ShapeNetPartSegDataset") + "ds = ShapeNetPartSegDataset('./data')\n"
    assert named(tmp_path, code) == [("ShapeNetPartSeg", False)]


@pytest.mark.parametrize("name", ["MyDataset", "ImageFolderDataset", "TextDataset"])
def test_plain_classes_tell_nothing(tmp_path, name):
    assert named(tmp_path, SETS.format(name=name) + f"ds = {name}('./data')\n") == []


def test_what_is_for_a_test_is_not_what_it_trains_on(tmp_path):
    code = SETS.format(name="Slices") + "ds = Slices('/data/other', split='test')\n"
    assert named(tmp_path, code) == []


@pytest.mark.parametrize(
    ("read", "name"),
    [
        ("import pandas as pd\ndf = pd.read_parquet('data/loans_2023.parquet')", "loans_2023"),
        ("import numpy as np\nx = np.loadtxt('data' + '/training.csv')", "data/training.csv"),
        ("import pandas as pd\ndf = pd.read_feather('/srv/meters.feather')", "meters"),
    ],
)
def test_tables_are_named_by_their_files(tmp_path, read, name):
    assert named(tmp_path, read) == [(name, False)]


def test_what_is_written_is_no_data(tmp_path):
    assert named(tmp_path, "import h5py\nf = h5py.File('res/ising.h5', 'w')\n") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("pipe:aws s3 cp s3://s-datasets/laion5b/{a/{000..231}.tar,b} -", "laion5b"),
        ("/data/laion400m/{00000..41455}.tar::/data/cc12m/{0..9}.tar", "laion400m"),
        ("/data/pile_text_document", "pile"),
        ("corpora/conll2003", "conll2003"),
    ],
)
def test_patterns_and_prefixes_of_files(text, name):
    assert dataset_name(text) == name


def test_of_several_the_first():
    assert meaning("dataset", "data_path", ("0.7", "/data/a_text_document", "0.3", "/b/c")) == "a"
    assert meaning("dataset", "data_path", ("Dahoas/rm-static", "x/y")) == "Dahoas/rm-static"
    with pytest.raises(Meaningless):
        meaning("dataset", "data_path", ())


@pytest.mark.parametrize("name", ["--corpus", "data.path", "train_data", "dataset.root"])
def test_settings_that_name_the_data(name):
    assert field_of(name)[0] == "dataset"


@pytest.mark.parametrize("name", ["MelDataset", "TrajectorySamplesDataset"])
def test_what_kind_of_samples_there_are_names_no_data(tmp_path, name):
    assert named(tmp_path, SETS.format(name=name) + f"ds = {name}('./data')\n") == []


def test_a_table_may_be_opened_before_it_is_read_and_its_splits_are_what_their_folder_is(tmp_path):
    code = "import numpy as np\nx = np.loadtxt(open('../data/engine_wear/train_0_F.csv', 'rb'))\n"
    assert named(tmp_path, code) == [("engine_wear", False)]


def test_kept_arrays_are_data_where_they_are_called_so(tmp_path):
    data = "import pickle\ntrain_set = pickle.load(open('src/data/trainScans.pkl', 'rb'))\n"
    other = "import pickle\nscaler = pickle.load(open('scaler.pkl', 'rb'))\n"
    assert named(tmp_path, data) == [("trainScans", False)]
    assert named(tmp_path, other) == []


def test_a_path_of_windows_has_parts_too():
    assert dataset_name("D:\\\\weather\\\\era5\\\\train") == "era5"
    assert dataset_name("D:\\weather\\era5\\train") == "era5"


def test_a_numbered_part_is_called_after_the_whole():
    assert dataset_name("/data/allvars_000.npz") == "allvars"
    assert dataset_name("/data/laion-00003-of-00128.parquet") == "laion"
    assert dataset_name("/data/places_365") == "places_365"


def test_what_a_path_is_opened_for_is_no_path(tmp_path):
    code = "import numpy as np\nfrom somewhere import path\nx = np.loadtxt(path.open('r'))\n"
    assert named(tmp_path, code) == []


def test_the_class_of_a_data_set_tells_more_than_what_it_keeps(tmp_path):
    code = SETS.format(name="BDDDataset") + (
        "        import pickle\n        self.all = pickle.load(open('dataset_train.pkl', 'rb'))\n"
        "ds = BDDDataset('./data')\n"
    )
    assert named(tmp_path, code) == [("BDD", False)]
