package main

import "strings"

// flow writes a text word by word as it comes, behind a bar and broken into lines.
type flow struct {
	screen *screen
	word   strings.Builder
	column int
	blank  bool // an empty line is owed, if more comes
}

// bar stands before what the assistant says.
const bar = indent + "│ "

// write takes the next piece; a word is written when it has come whole.
func (f *flow) write(piece string) {
	for _, r := range piece {
		switch r {
		case '\n':
			f.blank = f.column == 0 && f.word.Len() == 0 || f.blank
			f.endLine()
		case ' ':
			f.endWord()
		default:
			f.word.WriteString(clean(string(r)))
		}
	}
}

// endWord writes the word that has come, on the next line if this one is full.
func (f *flow) endWord() {
	word := elide(f.word.String(), f.screen.width-length(bar))
	f.word.Reset()
	if word == "" {
		return
	}
	if f.column > 0 && length(bar)+f.column+1+length(word) > f.screen.width {
		f.endLine()
	}
	if f.column > 0 {
		f.screen.begin(" "+word, 1+length(word))
		f.column += 1 + length(word)
		return
	}
	if f.blank {
		f.screen.line(f.screen.paint(dim, strings.TrimRight(bar, " ")))
		f.blank = false
	}
	f.screen.begin(f.screen.paint(dim, bar)+word, length(bar)+length(word))
	f.column = length(word)
}

// endLine writes what has come and goes to the next line.
func (f *flow) endLine() {
	f.endWord()
	if f.column > 0 {
		f.screen.finish("", 0)
		f.column = 0
	}
}
