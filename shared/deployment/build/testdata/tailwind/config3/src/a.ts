"y p-huge third:flex prose animate-in"
