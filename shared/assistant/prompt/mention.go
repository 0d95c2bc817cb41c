package prompt

// Mentioned are the files that a message names, in its order: by their path, with the slash in front or without, by the end of
// it, such as the file's name, if no other file's ends so.
func Mentioned(_ string, _ []string) []string { return nil }

// PathsIn is whatever in a message looks like a path, as a path, in its order; at most 20.
func PathsIn(_ string) []string { return nil }
