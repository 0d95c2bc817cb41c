package action

import "strings"

// manifest is a file that says what a project depends on, of one ecosystem.
type manifest interface {
	// packages reads name@range each, with a *Problem for what is none.
	packages(texts []string) ([]dependency, error)
	// edit is the content with the packages in it, everything else as it was. Its error says what is wrong with the content, for a
	// sentence that ends there.
	edit(content string, packages []dependency) (string, error)
}

// dependency is a package that is asked for.
type dependency struct{ name, version string } // no version: any

// manifestAt is the ecosystem that a path's name tells.
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
	return nil, problemf("%s is no manifest that add_dependency knows: these are package.json, go.mod and requirements.txt. Change others with edit_file.", path)
}

// maxPackage is the length of the longest name@range.
const maxPackage = 300

// readPackages reads each of some texts. Its rule for a text is what is wrong with it, or "".
func readPackages(texts []string, read func(text string) (d dependency, rule string), same func(name string) string) ([]dependency, error) {
	if len(texts) == 0 {
		return nil, problemf("The list of packages is empty.")
	}
	found := make([]dependency, len(texts))
	seen := map[string]bool{}
	for i, text := range texts {
		if len(text) > maxPackage {
			return nil, problemf("The package %s is too long.", shown(text))
		}
		d, rule := read(text)
		if rule != "" {
			return nil, problemf("The package %s %s.", shown(text), rule)
		}
		if seen[same(d.name)] {
			return nil, problemf("The package %s is named twice.", shown(d.name))
		}
		seen[same(d.name)] = true
		found[i] = d
	}
	return found, nil
}
