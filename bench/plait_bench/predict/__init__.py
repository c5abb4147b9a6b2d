"""How well `plait simulate` predicts programs on a disk that it was not calibrated on."""
