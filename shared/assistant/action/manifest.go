package action

import "strings"

// maxManifest is the maximum number of bytes of a manifest. An answer can change a manifest twenty times, and each time
// it is parsed, which needs about 120 times its size in memory.
const maxManifest = 256 << 10

// manifest is the format of a file that lists a project's dependencies.
type manifest struct {
	// read parses a text of the form name@range. It also returns the rule that the text violates, or "".
	read func(text string) (d dependency, rule string)
	// edit sets the requested versions of the packages, and returns the new content of the file. It adds the packages
	// that are missing, and may format the file. It also sets the versions in packages that are empty, to the versions in
	// the new content. Its error says what is wrong with the content, as the end of the sentence "/go.mod could not be
	// changed: …".
	edit func(content string, packages []dependency) (string, error)
}

// dependency is a requested package. The version is empty if any version is acceptable.
type dependency struct{ name, version string }

// manifestAt returns the format of the manifest at a path.
func manifestAt(path string) (manifest, error) {
	base := path[strings.LastIndexByte(path, '/')+1:]
	switch base {
	case "package.json":
		return manifest{readNpmPackage, editPackageJSON}, nil
	case "go.mod":
		return manifest{readModule, editGoMod}, nil
	}
	return manifest{}, problemf("%s is not a manifest that add_dependency supports: "+
		"it supports package.json and go.mod. Change others with edit_file.", path)
}

// maxPackage is the maximum number of bytes of a package, as name@range.
const maxPackage = 300

// packages parses texts of the form name@range. It returns a *Problem if one of them is not valid.
func (m manifest) packages(texts []string) ([]dependency, error) {
	if len(texts) == 0 {
		return nil, problemf("The list of packages is empty.")
	}
	packages := make([]dependency, len(texts))
	seen := map[string]bool{}
	for i, text := range texts {
		if len(text) > maxPackage {
			return nil, problemf("The package %s is too long.", shortQuote(text))
		}
		d, rule := m.read(text)
		if rule != "" {
			return nil, problemf("The package %s %s.", shortQuote(text), rule)
		}
		if seen[d.name] {
			return nil, problemf("The package %s is listed twice.", shortQuote(d.name))
		}
		seen[d.name] = true
		packages[i] = d
	}
	return packages, nil
}
