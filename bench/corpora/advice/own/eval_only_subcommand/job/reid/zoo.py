import torchreid


def build(arch, pretrained=True, classes=751):
    net = torchreid.models.build_model(arch, num_classes=classes, pretrained=pretrained)
    net.features = lambda x: net.global_avgpool(net.featuremaps(x)).flatten(1)
    return net
