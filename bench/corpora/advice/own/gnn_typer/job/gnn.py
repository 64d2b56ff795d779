from enum import Enum
from typing import Optional

import torch
import torch.nn.functional as F
import typer
from torch_geometric.datasets import Planetoid
from torch_geometric.nn import GATConv, GCNConv
from torch_geometric.transforms import NormalizeFeatures
from typing_extensions import Annotated

app = typer.Typer(add_completion=False)


class Data(str, Enum):
    cora = "cora"
    citeseer = "citeseer"
    pubmed = "pubmed"


class GATNet(torch.nn.Module):
    """two layers, as in the paper"""

    def __init__(self, d_in, hidden, d_out, heads=8, p=0.5):
        super().__init__()
        self.p = p
        self.a = GATConv(d_in, hidden // heads, heads=heads, dropout=p)
        self.b = GATConv(hidden, d_out, heads=1, concat=False, dropout=p)

    def forward(self, x, edge_index):
        x = F.dropout(x, self.p, self.training)
        x = F.elu(self.a(x, edge_index))
        x = F.dropout(x, self.p, self.training)
        return self.b(x, edge_index)


class GCN(torch.nn.Module):
    # baseline for the table, not used by the commands any more
    def __init__(self, d_in, hidden, d_out):
        super().__init__()
        self.a, self.b = GCNConv(d_in, hidden), GCNConv(hidden, d_out)

    def forward(self, x, e):
        return self.b(F.relu(self.a(x, e)), e)


@app.command()
def fit(
    data: Data,
    hidden: int = 64,
    epochs: int = 400,
    lr: float = 5e-3,
    dropout: float = 0.5,
    wait: Annotated[Optional[int], typer.Option(help="stop after so many epochs without a better one")] = None,
):
    ds = Planetoid("/tmp/planetoid", data.value.capitalize(), transform=NormalizeFeatures())
    g = ds[0].cuda()
    net = GATNet(ds.num_features, hidden, ds.num_classes, p=dropout).cuda()
    opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=5e-4)

    best, since = 0.0, 0
    for ep in range(epochs):
        net.train()
        opt.zero_grad()
        F.cross_entropy(net(g.x, g.edge_index)[g.train_mask], g.y[g.train_mask]).backward()
        opt.step()

        net.eval()
        with torch.no_grad():
            pred = net(g.x, g.edge_index).argmax(-1)
        acc = {k: (pred[m] == g.y[m]).float().mean().item() for k, m in g("train_mask", "val_mask", "test_mask")}
        since = 0 if acc["val_mask"] > best else since + 1
        best = max(best, acc["val_mask"])
        if wait is not None and since >= wait:
            typer.echo(f"stopped at {ep}")
            break
    typer.echo(f"{acc}")


@app.command()
def bench(runs: int = 10, epochs: int = 1000, lr: float = 0.01):
    for seed in range(runs):
        torch.manual_seed(seed)
        fit(Data.cora, epochs=epochs, lr=lr)


if __name__ == "__main__":
    app()
