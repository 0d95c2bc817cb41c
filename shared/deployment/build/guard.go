package build

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// esbuild resolves imports in the real folder, and would follow them out of it. The guard has three parts. onLoad
// refuses to read files outside of the folder, and files that are never bundled. checkPatterns and checkInputs refuse
// patterns of imports, and packages, that refer to files that they must not use. message.go drops what the bundler
// says about files outside. A file outside that exists and one that does not exist lead to the same message.

// errOutside means that a file is outside of the folder. The message is that of a file that does not exist.
var errOutside = &failure.Error{Code: failure.BuildFailed, Message: "outside"}

// load returns a file that may be bundled. Errors: *failure.Error.
func (b *bundler) load(file string) ([]byte, error) {
	if name, _, _ := b.sitePath(file); !isInPackage(file) && isNeverPublished(name) {
		return nil, neverBundled(file)
	}
	data, err := b.tree.Read(file)
	if err != nil {
		return nil, failf(failure.BuildFailed, "The file %s cannot be read. If its name is very long, rename it.", file)
	}
	return data, nil
}

func neverBundled(file string) *failure.Error {
	return failf(failure.BuildFailed, "The file %s is never bundled or published, because files with such names often "+
		"contain secrets or settings. Copy what the site needs into another file.", file)
}

// checkPattern returns an error if the pattern of an import begins in a folder that its importer must not list. The
// error is the same whether the folder exists or not. Errors: *failure.Error.
func (p *project) checkPattern(importer, pattern string) *failure.Error {
	prefix, rest, _ := strings.Cut(pattern, "*")
	folder, ok := join(path.Dir(importer), prefix[:strings.LastIndexAny(prefix, `/\`)+1])
	home := "/"
	if isInPackage(importer) {
		home, _ = packageOf(importer)
	}
	switch {
	case !ok, home == "/" && isInPackage(folder+"/"), home != "/" && !within(home, folder):
		return &failure.Error{Code: failure.BuildFailed, Path: importer, Message: "The computed path of an import leads " +
			"out of the project. Begin it with a folder inside."}
	case folder == "/" && strings.HasPrefix(rest, "*") && p.hasFolder("/node_modules"):
		return &failure.Error{Code: failure.BuildFailed, Path: importer, Message: "The computed path of an import means " +
			"all packages, too. Move the files to a folder, and begin the path with it."}
	}
	return nil
}

func within(dir, name string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// checkInputs returns an error if files refer to others that they must not use. It counts the packages. Errors:
// *failure.Error.
func (b *bundler) checkInputs(m metafile) error {
	checked := map[string]bool{}
	for name, input := range m.Inputs {
		file, ok := inputPath(name)
		if !ok {
			file = b.inline[file].file
		}
		for _, i := range input.Imports {
			if err := b.checkImport(file, i); err != nil {
				return err
			}
		}
		if !isInPackage(file) {
			continue
		}
		home, _ := packageOf(file)
		if err := b.checkManifests(home, path.Dir(file), checked); err != nil {
			return err
		}
		b.count(home, name, input.Bytes)
	}
	return nil
}

// checkImport returns an error for a pattern, and for a file of the project to which a package refers: in a file, or in
// its package.json.
func (b *bundler) checkImport(file string, i imported) error {
	if i.External {
		if isRelative(i.Path) && strings.Contains(i.Path, "*") {
			if err := b.checkPattern(file, i.Path); err != nil {
				return err
			}
		}
		return nil
	}
	target, ok := inputPath(i.Path)
	if !ok || isInPackage(target) || strings.HasPrefix(i.Path, "(disabled):") || strings.HasPrefix(i.Path, nsPublic+":") ||
		strings.HasPrefix(i.Path, nsEmpty+":") || strings.HasPrefix(i.Path, nsImportMap+":") {
		return nil
	}
	if isInPackage(file) {
		return packageReads(file)
	}
	spec, _, _ := strings.Cut(i.Original, "?")
	_, isAlias := b.aliasedFile(spec)
	if isAlias || isRelative(spec) || strings.HasPrefix(spec, "/") || strings.HasPrefix(spec, "#") || spec == "" ||
		strings.HasPrefix(target, path.Join(path.Dir(file), spec)) {
		return nil
	}
	return packageReads(packageFolder + spec)
}

func packageReads(file string) *failure.Error {
	_, name := packageOf(file)
	return failf(failure.BuildFailed, "The package %q refers to files outside of packages. Use another version of the "+
		"package, or another package.", name)
}

// checkManifests returns an error if a package.json between two folders of a package refers to a file outside. Without
// this check, the output would show whether such a file exists.
func (b *bundler) checkManifests(home, dir string, checked map[string]bool) *failure.Error {
	for ; within(home, dir); dir = path.Dir(dir) {
		if checked[dir] {
			return nil
		}
		checked[dir] = true
		data, err := b.tree.Read(dir + manifestPath)
		if err != nil {
			continue
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(trimBOM(data), &m) != nil {
			continue
		}
		var targets []string
		for _, field := range []string{"main", "module", "browser"} {
			var target string
			var all map[string]any
			if json.Unmarshal(m[field], &target) == nil {
				targets = append(targets, target)
			}
			if json.Unmarshal(m[field], &all) == nil {
				for from, to := range all {
					text, _ := to.(string)
					targets = append(targets, from, text)
				}
			}
		}
		for _, target := range targets {
			if file, ok := join(dir, target); !ok || strings.HasPrefix(target, "/") || !within(home, file) {
				return packageReads(dir + manifestPath)
			}
		}
	}
	return nil
}

// join joins a folder and a relative path. ok is false if the result is above the root.
func join(dir, rel string) (string, bool) {
	depth := strings.Count(strings.TrimSuffix(dir, "/"), "/")
	for segment := range strings.SplitSeq(rel, "/") {
		switch segment {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return "", false
			}
		default:
			depth++
		}
	}
	return path.Join(dir, rel), !strings.ContainsAny(rel, "\\\x00")
}

// The limits of the packages that a build uses.
const (
	maxPackages     = 500
	maxPackageBytes = 100 << 20
)

// usage is the files of packages in a build: sizes by file by folder of the package.
type usage map[string]map[string]int

func (s *state) count(home, file string, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[home] == nil {
		s.used[home] = map[string]int{}
	}
	s.used[home][file] = size
}

// check returns an error if a build uses too many or too large packages. It names the largest.
func (u usage) check() error {
	type size struct {
		home  string
		bytes int
	}
	var all []size
	total := 0
	for home, files := range u {
		s := size{home: home}
		for _, n := range files {
			s.bytes += n
		}
		total += s.bytes
		all = append(all, s)
	}
	if len(all) <= maxPackages && total <= maxPackageBytes {
		return nil
	}
	slices.SortFunc(all, func(a, b size) int { return cmp.Or(b.bytes-a.bytes, strings.Compare(a.home, b.home)) })
	var largest []string
	for _, s := range all[:min(len(all), 5)] {
		_, name := packageOf(s.home)
		largest = append(largest, fmt.Sprintf("%s (%.1f MiB)", name, float64(s.bytes)/(1<<20)))
	}
	return failf(failure.DependencyTooLarge, "The site uses %d packages with %.1f MiB, and the limits are %d packages "+
		"and %d MiB. The largest are %s. Import less of them, or use smaller packages.", len(all), float64(total)/(1<<20),
		maxPackages, maxPackageBytes>>20, strings.Join(largest, ", "))
}
