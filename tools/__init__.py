"""What is run while capsviz is developed: not part of the library or the app."""
