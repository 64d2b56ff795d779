"""Samples and datasets that are not what the program expects."""

from schedmate.handler.rules.base import LazyPattern, Rule, any_of, typed

_TYPES = (
    "UnidentifiedImageError|DecompressionBombError|JSONDecodeError|UnicodeDecodeError",
    r"ParserError|EmptyDataError|Arrow(?:Invalid|TypeError|KeyError|IndexError)|BadZipFile",
    r"BadGzipFile|LZMAError|ReadError|CorruptedError|DataLossError|LibsndfileError",
    r"SoundFileRuntimeError|NoBackendError|DECORDError|InvalidDataError|ImageFileError",
    r"InvalidDicomError|TiffFileError|DatasetGenerationError|DatasetGenerationCastError|CastError",
    r"SchemaInferenceError|NonMatchingSplitsSizesError|NonMatchingChecksumError|ExpectedMoreSplits",
    r"UnexpectedSplits|EmptyDatasetError|DecodeError|InvalidImageSizeError|CouldntDecodeError",
    r"(?:ET|ElementTree)\.ParseError|ExpatError|_csv\.Error|csv\.Error|zlib\.error",
)
_SPOILT = r"(?:[Cc]orrupt(?:ed)?|[Tt]runcated|[Bb]roken|[Bb]ad|[Ii]nvalid|[Mm]alformed|[Dd]amaged)"
_BROKEN = (
    r"image file is truncated|broken data stream when reading|cannot identify image file",
    r"unrecognized data stream contents",
    _SPOILT + r" (?:JPE?G|PNG|GIF|TIFF|WAV|FLAC|MP[34]|DICOM|NIfTI|image|video|audio|record|tar)\b",
    _SPOILT + r" (?:sample|parquet|shard|example|annotation|header in)\b",
    r"(?:[Cc]orrupt(?:ed)?|[Tt]runcated|[Dd]amaged) file\b",
    (
        r"[Ee]rror (?:reading|decoding|parsing|loading) (?:sample|record|image|audio|video"
        r"|example|row)"
    ),
    r"Compressed file ended before the end-of-stream|(?:[Cc]orrupted|truncated) record at",
    (
        r"[Uu]nable to (?:synchronously )?(?:open|read) (?:file|object|data) ?\("
        r"(?:truncated|wrong|bad|invalid|addr overflow|file signature not found"
        r"|unable to read superblock|filter returned|inflate\(\) failed|can't read data)"
    ),
    r"\bMDB_(?:CORRUPTED|INVALID|PAGE_NOTFOUND|VERSION_MISMATCH)\b",
    r"NetCDF: (?:HDF error|Unknown file)|Parquet file size is 0 bytes|corrupt file\?",
    r"Couldn't deserialize thrift|Unexpected end of stream",
    r"as a pickle$|EOF: reading array data|mmap length is greater than file size",
    r"(?:[Tt]runcated|[Cc]orrupted) record|[Uu]nexpected end of (?:data|file|archive|JSON)",
    r"Invalid data found when processing input|moov atom not found|Format not recognised",
    r"[Ff]ailed to (?:decode|load) (?:audio|video|image|the image|JPEG|PNG)",
    r"cannot find video stream",
    r"Parquet magic bytes not found|Corrupt snappy|Couldn't cast|cannot mmap an empty file",
    r"Expected image \(JPEG, PNG|[Uu]nable to decode|Invalid (?:PNG|JPEG|GIF) data",
    r"\(-(?:215|5|2|201|209):.{0,80}(?:empty|ssize|src|data)|imdecode|error while decoding MB",
    r"could not parse ModelProto from|Index file doesn't match expected format",
    r"[Ii]nvalid (?:JSON|json|CSV|XML) (?:line|in|at)|JSON parse error|codec can't decode byte",
)
_EMPTY = (
    r"num_samples should be a positive integer|[Dd]ataset is empty",
    r"[Ee]mpty (?:dataset|train(?:ing)? set|batch\b|split|shard)",
    r"Found 0 (?:files|images|samples|labels)",
    r"(?:train|val|test)(?:ing|idation)? (?:data)?set will be empty",
    r"Found array with 0 (?:sample|feature)|Expected input data to be non-empty",
    r"but the Sequence has length 0",
    r"[Dd]ata ?loader (?:returned|has|yielded) (?:0|no) (?:batch|sample)",
    (
        r"[Nn]o (?:valid |usable |matching )?(?:images?|labels?|samples?|data files?"
        r"|training data|examples?|videos?"
        r"|annotations?) (?:were |was )?(?:found|available|left|remain|in\b)"
    ),
    r"[Dd]oesn't contain any data files|[Zz]ero (?:samples|examples|batches)|contains no samples",
    r"(?:has|have) (?:no|0|zero) (?:samples|examples|images|rows)\b|exceeds dataset class count",
)
_CONTENT = (
    r"could not convert string to float|Target -?\d{1,12} is out of bounds|contains? NaN\b",
    r"Input contains infinity|does not match size of target_names|previously unseen labels",
    r"least populated class in y|Only one class present in y_true|can't handle a mix of",
    r"Invalid classes inferred from unique values|label value of -?\d{1,12} which is outside",
    r"[Ll]abel class \d{1,9} exceeds|bounding boxes should have positive height and width",
    r"[Ee]xpected [xy]_(?:min|max) for bbox|didn't find \[.{1,80}\] in \[",
    r"[Cc]onversation roles must alternate|No columns in the dataset match the model",
    r"field larger than field limit|line contains NUL|not well-formed \(invalid token\)",
    (
        r"[Ll]abels? (?:-?\d{1,9} )?(?:must be|are|is|should be) (?:in|out of|within"
        r"|outside).{0,20}(?:range|\[)"
    ),
    r"not finite everywhere|number of (?:classes|labels) in (?:the )?(?:data|dataset|labels)",
    r"`?num_classes`? .{0,80}(?:n[o']t match|differ|but (?:got|found)|length of `?CLASSES)",
    r"features are not aligned|column names don't match",
    r"All the data files must have the same columns",
    (
        r"(?:[Cc]olumn|[Ff]eature)s? [\w '\",\[\]]{1,80} (?:is |are )?(?:not (?:found )?in"
        r"|missing from) "
        r"(?:the )?data"
    ),
)

RULES = (
    Rule(
        name="decoder",
        reason="data_error",
        pattern=any_of(typed(*_TYPES), *_BROKEN),
        unless=LazyPattern(r"checkpoint|\.ckpt|\.safetensors|pytorch_model|weights|\.pth?\b"),
        errors_only=True,
        of_a_file=True,
        confidence=0.85,
        positives=(
            "PIL.UnidentifiedImageError: cannot identify image file 'x.jpg'",
            "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
            "OSError: image file is truncated (45 bytes not processed)",
            (
                "cv2.error: OpenCV(4.5.5) resize.cpp:4052: error: (-215:Assertion failed) "
                "!ssize.empty() in function 'resize'"
            ),
            "tensorflow.python.framework.errors_impl.DataLossError: corrupted record at 12",
            "pandas.errors.ParserError: Error tokenizing data. C error: Expected 3 fields, saw 4",
            "pyarrow.lib.ArrowInvalid: Parquet magic bytes not found in footer.",
            "soundfile.LibsndfileError: Error opening 'a.wav': Format not recognised.",
            "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1",
            "datasets.table.CastError: Couldn't cast",
            "RuntimeError: Failed to decode audio.",
            "zipfile.BadZipFile: File is not a zip file",
            "OSError: Unable to open file (truncated file: eof = 512, sblock->base_addr = 0)",
            "OSError: Unable to synchronously open file (file signature not found)",
            "OSError: Unable to open file (wrong B-tree signature)",
            "OSError: Couldn't deserialize thrift: TProtocolException: Invalid data",
            "DATA_LOSS: truncated record at 2910 failed with Read less bytes than requested",
        ),
        negatives=(
            "ValueError: num_samples",
            "OSError: image file is fine",
            "OSError: [Errno 9] Bad file descriptor",
        ),
    ),
    Rule(
        name="empty-dataset",
        reason="data_error",
        pattern=any_of(*_EMPTY, *_CONTENT),
        errors_only=True,
        confidence=0.85,
        positives=(
            "ValueError: num_samples should be a positive integer value, but got num_samples=0",
            "IndexError: Target 10 is out of bounds.",
            "ValueError: Input X contains NaN.",
            "ValueError: could not convert string to float: 'n/a'",
            "RuntimeError: Found 0 images in subfolders of: data/train",
            "AssertionError: train: No labels found in data/labels.cache, can not start training",
            (
                "ValueError: With n_samples=0, test_size=0.2 and train_size=None, the resulting "
                "train set will be empty."
            ),
            "ValueError: Invalid classes inferred from unique values of `y`. Expected: [0 1]",
            "ValueError: y contains previously unseen labels: ['dog']",
            (
                "ValueError: All bounding boxes should have positive height and width. Found "
                "invalid box [3, 4, 3, 9] for target at index 0."
            ),
            (
                "jinja2.exceptions.TemplateError: Conversation roles must alternate "
                "user/assistant/user/assistant/..."
            ),
        ),
        negatives=(
            "ValueError: the tensor is empty",
            "IndexError: index 10 is out of bounds for axis 0",
            "ValueError: no samples per class given",
        ),
    ),
)
