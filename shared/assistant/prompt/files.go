package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"devplatform/shared/assistant/model"
)

// minShown is the smallest part of a file that is worth showing, in bytes.
const minShown = 512

// shownFiles returns the current file, cut to its budget, and then the other files, cut to their common budget.
func (c Chat) shownFiles(b Budget) []model.File {
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
	return append(fit(current, b.Current*BytesPerToken), fit(named, b.Named*BytesPerToken)...)
}

// fit returns as many of the first files as fit into a budget of bytes. A file that is larger than its share is cut.
func fit(documents []Document, budget int) []model.File {
	for ; len(documents) > 0; documents = documents[:len(documents)-1] {
		available := budget
		for _, d := range documents {
			available -= len(fileTitle(d.Path, true)) + sectionOverhead
		}
		if files := cutToShares(documents, available); files != nil {
			return files
		}
	}
	return nil
}

// cutToShares cuts each file to its share of the available bytes. It returns nil if a share is too small to be worth
// showing.
func cutToShares(documents []Document, available int) []model.File {
	if available < 0 {
		return nil
	}
	sizes := make([]int, len(documents))
	for i, d := range documents {
		sizes[i] = len(d.Content)
	}
	files := make([]model.File, len(documents))
	for i, share := range shares(sizes, available) {
		if share < sizes[i] && share < minShown {
			return nil
		}
		text, isCut := cut(documents[i].Content, share)
		files[i] = model.File{Path: documents[i].Path, Content: text, Cut: isCut}
	}
	return files
}

// fileSections returns a section for each file.
func fileSections(files []model.File) []section {
	var sections []section
	for _, f := range files {
		sections = append(sections, section{fileTitle(f.Path, f.Cut), f.Content})
	}
	return sections
}

// fileTitle returns the title of a file's section.
func fileTitle(path string, isCut bool) string {
	if isCut {
		return "file " + quote(path) + " cut"
	}
	return "file " + quote(path)
}

// tree returns the project's paths in order, one on each line. If they do not fit into the budget of bytes, paths in
// the folder of the current file are preferred, then paths with few folders. The last line then has the number of
// missing paths.
func (c Chat) tree(budget int) string {
	paths := make([]string, len(c.Paths))
	for i, p := range c.Paths {
		paths[i] = clean(p)
	}
	current := folderOf(clean(c.CurrentFile))
	depth := func(p string) int {
		if current != "" && folderOf(p) == current {
			return 0
		}
		return strings.Count(p, "/")
	}
	slices.SortStableFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b))
	})
	const lastLineSize = 40 // bytes kept free for the line "… and N more"
	budget -= lastLineSize
	var lines []string
	for _, p := range paths {
		line := oneLine(p)
		if budget -= len(line) + 1; budget < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	if missing := len(paths) - len(lines); missing > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", missing))
	}
	return strings.Join(lines, "\n")
}

// folderOf returns the folder of a path, including the slash at its end, or "".
func folderOf(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }
