"""Problems, one file each."""
