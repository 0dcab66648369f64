"""How the choices that a file leaves open are read: searched for by the file's own figures, never by chance."""
