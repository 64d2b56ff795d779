"""Numbers that replace those of train.py when named on the command line."""

N_EPOCHS = 2
