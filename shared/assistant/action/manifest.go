package action

import "strings"

// manifest edits a file that lists a project's dependencies.
type manifest interface {
	// packages parses texts of the form name@range. It returns a *Problem if one of them is not valid.
	packages(texts []string) ([]dependency, error)
	// edit sets the requested versions of the packages, and returns the new content of the file. It adds the packages
	// that are missing, and changes nothing else. Its error says what is wrong with the content, as the end of the
	// sentence "/go.mod could not be changed: …".
	edit(content string, packages []dependency) (string, error)
}

// dependency is a requested package. The version is empty if any version is acceptable.
type dependency struct{ name, version string }

// manifestAt returns the manifest for the file name of a path.
func manifestAt(path string) (manifest, error) {
	base := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case base == "package.json":
		return npm{}, nil
	case base == "go.mod":
		return goMod{}, nil
	case strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt"):
		return pip{}, nil
	}
	return nil, problemf("%s is not a manifest that add_dependency supports: "+
		"it supports package.json, go.mod and requirements.txt. Change others with edit_file.", path)
}

// readPackages parses the texts that describe packages. The function read parses one text. It also returns the rule
// that the text violates, or "". The function key normalizes the name of a package, so that names can be compared.
func readPackages(
	texts []string, read func(text string) (d dependency, rule string), key func(name string) string,
) ([]dependency, error) {
	const maxLength = 300
	if len(texts) == 0 {
		return nil, problemf("The list of packages is empty.")
	}
	packages := make([]dependency, len(texts))
	seen := map[string]bool{}
	for i, text := range texts {
		if len(text) > maxLength {
			return nil, problemf("The package %s is too long.", shortQuote(text))
		}
		d, rule := read(text)
		if rule != "" {
			return nil, problemf("The package %s %s.", shortQuote(text), rule)
		}
		if seen[key(d.name)] {
			return nil, problemf("The package %s is listed twice.", shortQuote(d.name))
		}
		seen[key(d.name)] = true
		packages[i] = d
	}
	return packages, nil
}
