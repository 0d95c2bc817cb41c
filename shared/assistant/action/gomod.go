package action

import (
	"errors"
	"fmt"
	"slices"
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
	at := map[string]string{}
	for _, r := range file.Require {
		if _, again := at[r.Mod.Path]; again {
			return "", fmt.Errorf("it requires %s twice; repair it first, with edit_file", r.Mod.Path)
		}
		at[r.Mod.Path] = r.Mod.Version
	}
	changed := false
	for _, d := range packages {
		version, there := at[d.name]
		switch {
		case file.Module != nil && file.Module.Mod.Path == d.name:
			return "", fmt.Errorf("%s is the module itself", d.name)
		case there && (d.version == "" || d.version == version):
			continue
		case d.version == "":
			return "", fmt.Errorf("%s is new in it and needs a version, such as v1.2.3", d.name)
		}
		d.require(file, there)
		changed = true
	}
	if !changed {
		return content, nil
	}
	file.Cleanup()
	data, err := file.Format()
	if err != nil {
		return "", errors.New("it can't be written")
	}
	return string(data), nil
}

// require puts the dependency in its line, if it has one, or into the first block of what is required directly. That an old one is
// marked as indirect stays so until the go command finds it imported.
func (d dependency) require(file *modfile.File, there bool) {
	if there {
		_ = file.AddRequire(d.name, d.version) // it has no errors
		return
	}
	if block := directBlock(file); block != nil {
		line := &modfile.Line{Token: []string{modfile.AutoQuote(d.name), d.version}, InBlock: true}
		at := len(block.Line)
		if slices.IsSortedFunc(block.Line, byFirstToken) {
			at, _ = slices.BinarySearchFunc(block.Line, line, byFirstToken)
		}
		block.Line = slices.Insert(block.Line, at, line)
		file.Require = append(file.Require, &modfile.Require{Mod: module.Version{Path: d.name, Version: d.version}, Syntax: line})
		return
	}
	requires := []*modfile.Require{{Mod: module.Version{Path: d.name, Version: d.version}}}
	for _, r := range file.Require {
		requires = append(requires, &modfile.Require{Mod: r.Mod, Indirect: r.Indirect})
	}
	file.SetRequireSeparateIndirect(requires)
}

func byFirstToken(a, b *modfile.Line) int { return strings.Compare(a.Token[0], b.Token[0]) }

// directBlock is the first block that has something which is required directly, nil if there is none.
func directBlock(file *modfile.File) *modfile.LineBlock {
	direct := map[*modfile.Line]bool{}
	for _, r := range file.Require {
		direct[r.Syntax] = !r.Indirect
	}
	for _, statement := range file.Syntax.Stmt {
		block, ok := statement.(*modfile.LineBlock)
		if ok && slices.Equal(block.Token, []string{"require"}) && slices.ContainsFunc(block.Line, func(l *modfile.Line) bool { return direct[l] }) {
			return block
		}
	}
	return nil
}
