"""From files to lines: followed while they are written or read once, sifted where long."""
