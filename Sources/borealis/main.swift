print("borealis")
