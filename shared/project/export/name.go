package export

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"devplatform/shared/excerpt"
	projectpath "devplatform/shared/project/path"
)

// entryNames are the names of files in an archive. Usually, a name is the path of the file without the leading slash. A
// file or folder is renamed if Windows cannot store its name, or if a common file system treats its name and another
// name in the same folder as the same, for example because it ignores case. Names that every system can store are
// chosen first.
type entryNames struct {
	renamed  map[string]string // by path; the other files keep their names
	list     string            // the lines of the renamed files, in path order
	listName string            // of the entry with the list
}

// newEntryNames returns the names of files. They depend only on the paths, which are in path order. It returns an error
// for a path that no file can have.
func newEntryNames(paths []string) (*entryNames, error) {
	for _, p := range paths {
		if rule := projectpath.Check(p); rule != "" {
			return nil, fmt.Errorf("export: the path of a file %s", rule)
		}
	}
	n := &entryNames{renamed: map[string]string{}}
	root := n.nameFolder(paths, len("/"), "")
	var list strings.Builder
	for _, p := range paths {
		if name, isRenamed := n.renamed[p]; isRenamed {
			_, _ = fmt.Fprintf(&list, "%s\t%s\n", p[1:], name) // a builder never fails
		}
	}
	n.list, n.listName = list.String(), root.choose("RENAMED.txt")
	return n, nil
}

// of returns the name of a file.
func (n *entryNames) of(path string) string { return cmp.Or(n.renamed[path], path[1:]) }

// nameFolder names the files in a folder and its subfolders, and returns the names in the folder itself. paths are the
// paths in the folder. start is the length of the folder's own path, including the slash at its end. name is the path
// of the folder in the archive, including this slash.
func (n *entryNames) nameFolder(paths []string, start int, name string) *siblings {
	children := childrenOf(paths, start)
	s := &siblings{}
	names := make([]string, len(children))
	for i, c := range children { // first the names that every system can store
		if safe := safeName(c.name); safe == c.name && !s.isTaken(safe) {
			names[i] = s.choose(safe)
		}
	}
	for i, c := range children {
		if names[i] == "" {
			names[i] = s.choose(safeName(c.name))
		}
		end := start + len(c.name)
		isSame := names[i] == c.name && name == c.paths[0][1:start]
		switch p := c.paths[0]; {
		case c.isFolder && isSame:
			n.nameFolder(c.paths, end+1, p[1:end+1])
		case c.isFolder:
			n.nameFolder(c.paths, end+1, name+names[i]+"/")
		case !isSame:
			n.renamed[p] = name + names[i]
		}
	}
	return s
}

// child is a file or a folder in a folder.
type child struct {
	name     string
	paths    []string // of the file, or of all files in the folder
	isFolder bool
}

// childrenOf groups the paths in a folder by the segment that begins at start. The paths of a folder are consecutive.
func childrenOf(paths []string, start int) []child {
	var children []child
	for i := 0; i < len(paths); {
		name, _, isFolder := strings.Cut(paths[i][start:], "/")
		end, prefix := i+1, paths[i][:start+len(name)]+"/"
		for isFolder && end < len(paths) && strings.HasPrefix(paths[end], prefix) {
			end++
		}
		children = append(children, child{name, paths[i:end], isFolder})
		i = end
	}
	return children
}

// siblings are the names that are taken in a folder. Most folders of a deep tree have one name, and need no maps.
type siblings struct {
	first string          // the first name that was taken
	taken map[string]bool // all names that were taken, by nameKey; nil if there is at most one
	next  map[string]int  // the next number to try, by the nameKey of the name without a number
}

// isTaken reports whether a name is taken.
func (s *siblings) isTaken(name string) bool {
	if s.taken == nil {
		return s.first != "" && nameKey(s.first) == nameKey(name)
	}
	return s.taken[nameKey(name)]
}

// take marks a name as taken.
func (s *siblings) take(name string) {
	if s.first == "" {
		s.first = name
		return
	}
	if s.taken == nil {
		s.taken, s.next = map[string]bool{nameKey(s.first): true}, map[string]int{}
	}
	s.taken[nameKey(name)] = true
}

// choose returns a unique name, and marks it as taken. name is a name that every system can store. If it is already
// taken, choose inserts the first number that makes it unique before the extension.
func (s *siblings) choose(name string) string {
	const numberBytes, maxExtensionBytes = len("-99999"), 16
	if !s.isTaken(name) {
		s.take(name)
		return name
	}
	extension := path.Ext(name)
	if extension == name || len(extension) > maxExtensionBytes {
		extension = ""
	}
	base := excerpt.Start(strings.TrimSuffix(name, extension), projectpath.MaxSegmentBytes-numberBytes-len(extension))
	counter := nameKey(base + extension)
	for number := max(s.next[counter], 2); ; number++ {
		candidate := fmt.Sprintf("%s-%d%s", base, number, extension)
		if !s.isTaken(candidate) {
			s.take(candidate)
			s.next[counter] = number + 1
			return candidate
		}
	}
}

// nameKey returns the same key for two names if a common file system treats them as the same name. These file systems
// ignore case and normal forms, and some ignore format characters.
func nameKey(name string) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(visible)))
}

// device matches the names that mean a device on Windows, with any extension.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)

// safeName returns the name of a file or folder if every common system can store it. Otherwise, characters that Windows
// does not allow become "_", and so do dots and spaces at the end, which Windows drops. The name of a device gets a
// "_".
func safeName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*\`, r) || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, name)
	trimmed := strings.TrimRight(safe, ". ")
	safe = trimmed + strings.Repeat("_", len(safe)-len(trimmed))
	if device.MatchString(safe) {
		safe = excerpt.Start("_"+safe, projectpath.MaxSegmentBytes)
	}
	return safe
}
