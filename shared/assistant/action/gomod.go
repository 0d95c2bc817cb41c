package action

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// goMod is a go.mod.
type goMod struct{}

func (goMod) packages(texts []string) ([]dependency, error) {
	return readPackages(texts, readModule, func(path string) string { return path })
}

func readModule(text string) (d dependency, rule string) {
	var hasVersion bool
	d.name, d.version, hasVersion = strings.Cut(text, "@")
	switch {
	case module.CheckPath(d.name) != nil:
		return d, "has no module's path: write module@version, such as github.com/google/uuid@v1.6.0"
	case !hasVersion:
		return d, ""
	case module.Check(d.name, d.version) != nil || module.CanonicalVersion(d.version) != d.version:
		return d, "needs a whole version that its path allows, such as v1.6.0; a go.mod knows no ranges, and /v2 takes v2.x.y"
	}
	return d, ""
}

func (goMod) edit(content string, packages []dependency) (string, error) {
	file, err := modfile.Parse("go.mod", []byte(content), nil)
	if err != nil {
		return "", errors.New("it is not a valid go.mod; repair it first, with edit_file")
	}
	requires, at := file.Require, map[string]int{}
	for i, r := range requires {
		if _, again := at[r.Mod.Path]; again {
			return "", fmt.Errorf("it requires %s twice; repair it first, with edit_file", r.Mod.Path)
		}
		at[r.Mod.Path] = i
	}
	changed := false
	for _, d := range packages {
		i, there := at[d.name]
		switch {
		case file.Module != nil && file.Module.Mod.Path == d.name:
			return "", fmt.Errorf("%s is the module itself", d.name)
		case there && d.version == "", there && requires[i].Mod.Version == d.version && !requires[i].Indirect:
		case d.version == "":
			return "", fmt.Errorf("%s is new in it and needs a version, such as v1.2.3", d.name)
		case there:
			// What is asked for by name is going to be imported, whatever it was before.
			requires[i].Mod.Version, requires[i].Indirect, changed = d.version, false, true
		default:
			requires = append(requires, &modfile.Require{Mod: module.Version{Path: d.name, Version: d.version}})
			changed = true
		}
	}
	if !changed {
		return content, nil
	}
	return format(file, requires)
}

// format is a go.mod with these requirements, the direct ones apart from the indirect ones as the go command keeps them.
func format(file *modfile.File, requires []*modfile.Require) (string, error) {
	copies := make([]*modfile.Require, len(requires))
	for i, r := range requires {
		copies[i] = &modfile.Require{Mod: r.Mod, Indirect: r.Indirect}
	}
	file.SetRequireSeparateIndirect(copies)
	file.Cleanup()
	data, err := file.Format()
	if err != nil {
		return "", errors.New("it can't be written")
	}
	return string(data), nil
}
