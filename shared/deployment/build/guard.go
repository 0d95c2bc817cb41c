package build

import (
	"path"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// esbuild resolves imports in the real folder, and would follow them out of it. These functions prevent that. onLoad
// refuses files outside of the folder, and files that are never bundled. pathReference and checkPattern refuse paths
// and patterns that lead out of the folder, and references from a package to a file of the project. The manifests in
// the folder name no files outside (package tree). message.go drops what the bundler says about files outside. A file
// outside that exists and one that does not exist lead to the same message.

// errOutside reports that a file is outside of the folder. message.go replaces it with the message for a missing file,
// so that a project cannot find out which files exist outside.
var errOutside = &failure.Error{Code: failure.BuildFailed, Message: "outside"}

// load returns a file that may be bundled. Errors: *failure.Error.
func (b *bundler) load(file string) ([]byte, error) {
	if name, _, _ := b.sitePath(file); !tree.IsInPackage(file) && isNeverPublished(name) {
		return nil, errNeverBundled(file)
	}
	data, err := b.tree.Read(file)
	if err != nil {
		i := slices.IndexFunc(b.names, func(name string) bool { return strings.EqualFold(name, file) })
		if i >= 0 { // the bundler ignores the case of names
			return nil, failf(failure.BuildFailed, "The file %s does not exist. The name of the file is %s: write it in the "+
				"same way.", file, b.names[i])
		}
		return nil, failf(failure.BuildFailed, "The file %s does not exist. Check the upper-case and lower-case letters of "+
			"its name.", file)
	}
	b.recordUse(file, len(data))
	return data, nil
}

func errNeverBundled(file string) *failure.Error {
	return failf(failure.BuildFailed, "The file %s is never bundled or published, because files with such names often "+
		"contain secrets or settings. Copy what the site needs into another file.", file)
}

// checkPattern returns an error if the pattern of an import begins in a folder that its importer must not list. The
// error is the same whether the folder exists or not. Errors: *failure.Error.
func (p *project) checkPattern(importer, pattern string) *failure.Error {
	prefix, rest, _ := strings.Cut(pattern, "*")
	folder, ok := join(path.Dir(importer), prefix[:strings.LastIndexAny(prefix, `/\`)+1])
	home := "/"
	if tree.IsInPackage(importer) {
		home, _ = tree.PackageOf(importer)
	}
	switch {
	case !ok, home == "/" && tree.IsInPackage(folder+"/"), home != "/" && !isWithin(home, folder):
		return failIn(importer, failure.BuildFailed, "The computed path of an import leads out of the project. Begin it "+
			"with a folder inside.")
	case strings.Contains(rest, `\`): // esbuild escapes characters so, and panics at half of a surrogate pair
		return failIn(importer, failure.BuildFailed, "The computed path of an import contains a backslash, a quotation mark "+
			"or a character that is not valid. Remove it.")
	case folder == "/" && strings.HasPrefix(rest, "*") && p.tree.HasFolder("/node_modules"):
		return failIn(importer, failure.BuildFailed, "The computed path of an import also matches all files in "+
			"/node_modules. Move the files that it should match to a folder, and begin the path with that folder.")
	}
	return nil
}

func isWithin(dir, name string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// recordUse adds a file to the files that the bundle uses.
func (b *bundler) recordUse(file string, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !tree.IsInPackage(file) {
		b.result.inputs[file] = true
		return
	}
	home, _ := tree.PackageOf(file)
	if b.used[home] == nil {
		b.used[home] = map[string]int{}
	}
	b.used[home][file] = size
}

func errLeavesPackage(file string) *failure.Error {
	_, name := tree.PackageOf(file)
	return failf(failure.BuildFailed, "The package %q refers to files outside of packages. Use another version of the "+
		"package, or another package.", name)
}

// join joins a folder and a relative path. ok is false if the result is above the root, or rel contains a backslash or
// NUL.
func join(dir, rel string) (joined string, ok bool) {
	depth := strings.Count(strings.TrimSuffix(dir, "/"), "/")
	for segment := range strings.SplitSeq(rel, "/") {
		switch segment {
		case "", ".":
		case "..":
			depth--
			if depth < 0 {
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

// usage contains the sizes of the files of packages that a build uses, by the folder of the package and the file.
type usage map[string]map[string]int

// check returns an error if a build uses too many or too large packages. It names the packages with the most bytes.
func (u usage) check() error {
	sizes := map[string]int{}
	total := 0
	for home, files := range u {
		_, name := tree.PackageOf(home)
		for _, n := range files {
			sizes[name] += n
			total += n
		}
	}
	if len(u) <= maxPackages && total <= maxPackageBytes {
		return nil
	}
	return failf(failure.DependencyTooLarge, "The site uses %d packages with %.1f MiB, and the limits are %d packages "+
		"and %d MiB. The largest are %s. Import less of them, or use smaller packages.", len(u), float64(total)/(1<<20),
		maxPackages, maxPackageBytes>>20, failure.LargestSizes(sizes))
}
