package tailwind

import "bytes"

// prepare replaces the syntax of a file's language that separates classes, but looks like a part of a class.
func prepare(extension string, content []byte) []byte {
	switch extension {
	case "svelte":
		for _, before := range []string{" ", "\t", "\n"} {
			content = bytes.ReplaceAll(content, []byte(before+"class:"), []byte(" class "))
		}
	case "json", "jsonl", "ndjson":
		return prepareJSON(content)
	case "md", "mdx":
		return prepareMarkdown(content)
	}
	return content
}

// prepareJSON removes brackets outside of strings.
func prepareJSON(content []byte) []byte {
	content = bytes.Clone(content)
	isText := false
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '\\' && isText:
			i++
		case c == '"':
			isText = !isText
		case !isText && bytes.IndexByte([]byte("[]{}"), c) >= 0:
			content[i] = ' '
		}
	}
	return content
}

// prepareMarkdown removes the braces and dots of attributes, such as in {.flex}.
func prepareMarkdown(content []byte) []byte {
	content = bytes.Clone(content)
	isDirective, depth := false, 0
	for i, c := range content {
		switch {
		case !isDirective && c == '{':
			content[i], isDirective = ' ', true
		case !isDirective:
		case bytes.IndexByte([]byte("([{<"), c) >= 0:
			depth++
		case bytes.IndexByte([]byte(")]}>"), c) >= 0 && depth > 0:
			depth--
		case c == '}':
			content[i], isDirective = ' ', false
		case c == '.' && depth == 0:
			content[i] = ' '
		}
	}
	return content
}
