package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tree is the project's paths, one a line, as many as fit, in their order: first those beside the current file, then the others by
// how deep they lie. A last line says how many are not there.
func (c Chat) tree(budget int) string {
	paths := make([]string, len(c.Paths))
	for i, p := range c.Paths {
		paths[i] = clean(p)
	}
	total := max(c.Total, len(paths))
	const lastLine = 40
	budget -= lastLine
	folder := folderOf(clean(c.CurrentFile))
	slices.SortStableFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(a, folder), distance(b, folder)), cmp.Compare(a, b))
	})
	var lines []string
	for _, p := range paths {
		line := pathLine(p)
		if budget -= len(line) + 1; budget < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	if left := total - len(lines); left > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", left))
	}
	return strings.Join(lines, "\n")
}

// distance orders paths by how much they tell about the project.
func distance(p, folder string) int {
	if folder != "" && folderOf(p) == folder {
		return 0
	}
	return strings.Count(p, "/")
}

// folderOf is the folder that a path is in, with its slash; of no path, "".
func folderOf(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }

// pathLine is a path on a line of its own, which no other line of a prompt looks like.
func pathLine(p string) string {
	if strings.HasPrefix(p, "/") {
		return oneLine(p)
	}
	return quote(p)
}
