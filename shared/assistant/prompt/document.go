package prompt

import "devplatform/shared/assistant/model"

// leastShown is how much of a file is shown at least, in bytes; what can't have that is not shown.
const leastShown = 512

// show is the current file within its budget, and the named ones within theirs.
func (c Chat) show(b Budget) []model.File {
	var current, named []Document
	seen := map[string]bool{}
	for i, d := range c.Files {
		if seen[d.Path] {
			continue
		}
		seen[d.Path] = true
		d = Document{Path: clean(d.Path), Content: clean(d.Content)}
		if i == 0 && c.CurrentFile != "" && d.Path == clean(c.CurrentFile) {
			current = append(current, d)
		} else {
			named = append(named, d)
		}
	}
	return append(fit(current, b.Current*bytesPerToken), fit(named, b.Named*bytesPerToken)...)
}

// fit shows as many of the files as the budget has room for, the first ones; those that are too long for their share are cut.
func fit(documents []Document, budget int) []model.File {
	for ; len(documents) > 0; documents = documents[:len(documents)-1] {
		sizes, room := make([]int, len(documents)), budget
		for i, d := range documents {
			sizes[i] = len(d.Content)
			room -= len(fileTitle(d.Path, true)) + frame
		}
		if files := cutTo(documents, sizes, room); files != nil {
			return files
		}
	}
	return nil
}

// cutTo gives each file its share of the room; nil if that leaves too little of one.
func cutTo(documents []Document, sizes []int, room int) []model.File {
	if room < 0 {
		return nil
	}
	files := make([]model.File, len(documents))
	for i, share := range shares(sizes, room) {
		if share < sizes[i] && share < leastShown {
			return nil
		}
		text, isCut := cut(documents[i].Content, share)
		files[i] = model.File{Path: documents[i].Path, Content: text, Cut: isCut}
	}
	return files
}

// fileTitle is the title of a file's section.
func fileTitle(path string, isCut bool) string {
	if isCut {
		return "file " + quote(path) + " cut"
	}
	return "file " + quote(path)
}
