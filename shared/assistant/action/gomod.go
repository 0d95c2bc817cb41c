package action

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// readModule parses module@version.
func readModule(text string) (d dependency, rule string) {
	var hasVersion bool
	d.name, d.version, hasVersion = strings.Cut(text, "@")
	switch {
	case module.CheckPath(d.name) != nil:
		return d, "does not have a valid module path: write module@version, such as github.com/google/uuid@v1.6.0"
	case !hasVersion:
		return d, ""
	case module.Check(d.name, d.version) != nil || module.CanonicalVersion(d.version) != d.version:
		return d, "needs a full version that is valid for its path, such as v1.6.0; " +
			"a go.mod has no ranges, and a path that ends with /v2 needs v2.x.y"
	}
	return d, ""
}

// editGoMod is the field edit of the manifest go.mod. It formats the file and sorts the requirements, as the go command
// does.
func editGoMod(content string, packages []dependency) (string, error) {
	file, err := modfile.Parse("go.mod", []byte(content), nil)
	if err != nil {
		return "", errors.New("it is not a valid go.mod; repair it first, with edit_file")
	}
	required := map[string]*modfile.Require{}
	for _, r := range file.Require {
		if required[r.Mod.Path] != nil {
			return "", fmt.Errorf("it requires %s twice; repair it first, with edit_file", r.Mod.Path)
		}
		required[r.Mod.Path] = &modfile.Require{Mod: r.Mod, Indirect: r.Indirect}
	}
	isChanged := false
	for i := range packages {
		d := &packages[i]
		existing := required[d.name]
		switch {
		case file.Module != nil && file.Module.Mod.Path == d.name:
			return "", fmt.Errorf("%s is the module itself", d.name)
		case existing != nil && (d.version == "" || d.version == existing.Mod.Version):
			d.version = existing.Mod.Version
			continue
		case existing != nil:
			existing.Mod.Version = d.version
		case d.version == "":
			return "", fmt.Errorf("%s is new in this file and needs a version, such as v1.2.3", d.name)
		default:
			required[d.name] = &modfile.Require{Mod: module.Version{Path: d.name, Version: d.version}}
		}
		isChanged = true
	}
	if !isChanged {
		return content, nil
	}
	file.SetRequireSeparateIndirect(slices.Collect(maps.Values(required)))
	file.Cleanup()
	data, err := file.Format()
	if err != nil {
		return "", errors.New("it can't be formatted")
	}
	return string(data), nil
}
