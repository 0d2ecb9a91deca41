"""Where an image comes from: a data set, a recording, a picture of the visitor's."""
