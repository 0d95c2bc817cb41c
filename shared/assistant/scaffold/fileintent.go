package scaffold

import (
	"slices"
	"strings"
)

// readPackages reads what is to be installed. A package that is to go is no package to add.
func readPackages(in intent, r *request) intent {
	in.deed = addPackages
	words := r.all
	if r.verb == installVerb {
		words = withoutCommand(words)
	}
	in.packages = packagesIn(words, r.verb == installVerb || asksPackage(r))
	return in
}

// withoutCommand takes the rest of a command off: npm install, yarn add -D.
func withoutCommand(words []word) []word {
	for len(words) > 0 && (words[0].is(setOf("install i add get ci --save --save-dev -d -g")) || strings.HasPrefix(words[0].text, "-")) {
		words = words[1:]
	}
	return words
}

// asksPackage reports that the words call it a package.
func asksPackage(r *request) bool {
	return slices.ContainsFunc(r.all, func(w word) bool { return w.is(packageWords) && (r.kind == nil || w.low != "npm") })
}

// packagesIn are the words that name packages: those that are well known or have a version, and, where packages are asked for, all
// that could be one.
func packagesIn(words []word, asked bool) []word {
	var out []word
	for _, w := range words {
		if isTo(w) || w.is(setOf("as for in from using with via")) {
			break
		}
		name := packageName(w.text)
		switch {
		case w.is(determiners) || w.is(packageWords) || w.is(polite) || strings.HasPrefix(w.text, "-") || w.is(setOf("latest version")):
		case !isPackageName(name):
		case isKnownPackage(name), strings.Contains(w.text[1:], "@"), isScoped(name), isGoModule(name), asked:
			out = append(out, w)
		}
	}
	return out
}

// readRemoval reads which files, or packages, are to go.
func readRemoval(in intent, r *request) intent {
	in.deed = removeFile
	if asksPackage(r) && !slices.ContainsFunc(r.all, word.isPath) {
		in.deed = removePackage
		return in
	}
	before, inside := insideOf(r.all)
	if inside || slices.ContainsFunc(r.all, func(w word) bool { return w.is(exceptWords) }) {
		in.deed = change
		return in
	}
	in.files = before
	return in
}

// targetIn is the new name. What a file is moved to is a folder, unless it looks like a file.
func targetIn(words []word, moves bool) word {
	for i, t := range words {
		if t.is(determiners) || t.is(folderWords) {
			continue
		}
		folder := i+1 < len(words) && words[i+1].is(folderWords) || i > 0 && words[i-1].is(folderWords) || moves && !strings.Contains(pathBase(t.text), ".")
		if folder && !strings.HasSuffix(t.text, "/") {
			t.text += "/"
		}
		return t
	}
	return word{}
}

// insideOf reports that a change is about something within a file, "the console.log from App.jsx"; else it is the words without the
// folder that a file is said to be in.
func insideOf(words []word) (before []word, inside bool) {
	for i, w := range words {
		if i == 0 || !w.is(insideWords) {
			continue
		}
		for _, in := range words[i+1:] {
			if in.is(wholes) || in.is(folderWords) {
				return words[:i], false
			}
			if in.isPath() && strings.Contains(pathBase(in.text), ".") || in.isCamel() || in.is(fileWords) {
				return nil, true
			}
		}
		if !slices.ContainsFunc(words[:i], word.isPath) {
			return nil, true
		}
		return words[:i], false
	}
	return words, false
}

func pathBase(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// readRename reads the two names of "rename a to b".
func readRename(in intent, r *request) intent {
	in.deed = renameFile
	for i := len(r.all) - 1; i > 0; i-- {
		w := r.all[i]
		if w.quoted || w.low != "to" && w.low != "into" && w.low != "as" && w.low != "->" && w.low != "→" && w.low != "=>" {
			continue
		}
		before, inside := insideOf(r.all[:i])
		if inside {
			in.deed = change
			return in
		}
		in.files = before
		in.to = targetIn(r.all[i+1:], r.moves)
		return in
	}
	in.files = r.all
	if n := len(r.all); n == 2 && r.all[0].isPath() && r.all[1].isPath() { // mv a b
		in.files, in.to = r.all[:1], r.all[1]
	}
	return in
}
