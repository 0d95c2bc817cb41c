package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// goMod edits go.mod files.
type goMod struct{}

func (goMod) packages(texts []string) ([]dependency, error) {
	return readPackages(texts, readModule, func(path string) string { return path })
}

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

func (goMod) edit(content string, packages []dependency) (string, error) {
	file, err := modfile.Parse("go.mod", []byte(content), nil)
	if err != nil {
		return "", errors.New("it is not a valid go.mod; repair it first, with edit_file")
	}
	required := map[string]string{}
	for _, r := range file.Require {
		if _, isDuplicate := required[r.Mod.Path]; isDuplicate {
			return "", fmt.Errorf("it requires %s twice; repair it first, with edit_file", r.Mod.Path)
		}
		required[r.Mod.Path] = r.Mod.Version
	}
	isChanged := false
	for _, d := range packages {
		version, exists := required[d.name]
		switch {
		case file.Module != nil && file.Module.Mod.Path == d.name:
			return "", fmt.Errorf("%s is the module itself", d.name)
		case exists && (d.version == "" || d.version == version):
			continue
		case d.version == "":
			return "", fmt.Errorf("%s is new in this file and needs a version, such as v1.2.3", d.name)
		case exists:
			_ = file.AddRequire(d.name, d.version) // never returns an error
		default:
			addRequire(file, d)
		}
		isChanged = true
	}
	if !isChanged {
		return content, nil
	}
	file.Cleanup()
	data, err := file.Format()
	if err != nil {
		return "", errors.New("it can't be formatted")
	}
	return string(data), nil
}

// addRequire adds a new requirement to the first block that has direct requirements. If the block is sorted, it stays
// sorted. modfile itself does not add to a block in which a line has a comment.
func addRequire(file *modfile.File, d dependency) {
	added := &modfile.Require{Mod: module.Version{Path: d.name, Version: d.version}}
	block := directBlock(file)
	if block == nil {
		requires := []*modfile.Require{added}
		for _, r := range file.Require {
			requires = append(requires, &modfile.Require{Mod: r.Mod, Indirect: r.Indirect})
		}
		file.SetRequireSeparateIndirect(requires)
		return
	}
	added.Syntax = &modfile.Line{Token: []string{modfile.AutoQuote(d.name), d.version}, InBlock: true}
	at := len(block.Line)
	if slices.IsSortedFunc(block.Line, byFirstToken) {
		at, _ = slices.BinarySearchFunc(block.Line, added.Syntax, byFirstToken)
	}
	block.Line = slices.Insert(block.Line, at, added.Syntax)
	file.Require = append(file.Require, added)
}

func byFirstToken(a, b *modfile.Line) int { return strings.Compare(a.Token[0], b.Token[0]) }

// directBlock returns the first require block that has a direct requirement, or nil.
func directBlock(file *modfile.File) *modfile.LineBlock {
	isDirect := map[*modfile.Line]bool{}
	for _, r := range file.Require {
		isDirect[r.Syntax] = !r.Indirect
	}
	for _, statement := range file.Syntax.Stmt {
		block, ok := statement.(*modfile.LineBlock)
		if ok && slices.Equal(block.Token, []string{"require"}) &&
			slices.ContainsFunc(block.Line, func(l *modfile.Line) bool { return isDirect[l] }) {
			return block
		}
	}
	return nil
}
