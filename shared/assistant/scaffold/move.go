package scaffold

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"devplatform/shared/assistant/action"
	projectpath "devplatform/shared/project/path"
)

// remove deletes the files that the words name.
func (c *conversation) remove(in intent) {
	for _, p := range c.filesNamed(in.files, "delete") {
		c.facts.drop(p)
		c.steps = append(c.steps, step{
			name: "deleting " + code(p), says: fmt.Sprintf("I delete `%s`. What imports it elsewhere is left as it is.", p),
			acts: []act{{action.DeleteFile, input{Path: p}}},
		})
	}
}

// rename moves a file.
func (c *conversation) rename(in intent) {
	found := c.filesNamed(in.files, "rename")
	if len(found) == 0 {
		return
	}
	from := found[0]
	if in.to.text == "" {
		c.say("What is `%s` to be called? For example: “rename %s to main%s”.", from, path.Base(from), path.Ext(from))
		return
	}
	to, problem := c.targetOf(from, in.to.text)
	if problem != "" {
		c.say("I can't rename `%s`: %s.", from, problem)
		return
	}
	c.facts.drop(from)
	c.facts.add(to)
	c.steps = append(c.steps, step{
		name: "renaming " + code(from), says: fmt.Sprintf("I rename `%s` to `%s`. Imports of it in other files are left as they are.", from, to),
		acts: []act{{action.RenameFile, input{Path: from, To: to}}},
	})
}

// targetOf is the path that a file gets. A name alone keeps the folder, a folder keeps the name, a name without extension keeps that.
func (c *conversation) targetOf(from, text string) (to, problem string) {
	text = norm.NFC.String(strings.TrimPrefix(text, "./"))
	folder := strings.HasSuffix(text, "/")
	text = strings.TrimSuffix(text, "/")
	switch {
	case text == "" || folder:
		to = path.Join("/", text, path.Base(from))
	case c.facts.hasFolder("/" + strings.TrimPrefix(text, "/")):
		to = path.Join("/", text, path.Base(from))
	case strings.Contains(text, "/"):
		to = "/" + strings.TrimPrefix(text, "/")
	default:
		to = path.Join(path.Dir(from), text)
	}
	if path.Ext(to) == "" && path.Ext(from) != "" {
		to += path.Ext(from)
	}
	switch {
	case projectpath.Check(to) != "":
		return "", "the new path " + projectpath.Check(to)
	case to == from:
		return "", "that is its name already"
	case c.facts.has(to):
		return "", fmt.Sprintf("`%s` exists already", to)
	case c.facts.hasFolder(to):
		return "", fmt.Sprintf("`%s` is a folder", to)
	}
	for _, above := range projectpath.Ancestors(to) {
		if above != from && c.facts.has(above) {
			return "", fmt.Sprintf("`%s` is a file, not a folder", above)
		}
	}
	return to, ""
}

// maxFileWords is how many words of a request are looked up among the project's files.
const maxFileWords = 40

// filesNamed are the files that words name, each surely; it asks where words fit several, and says where they fit none.
func (c *conversation) filesNamed(words []word, verb string) []string {
	var out []string
	said := false
	for _, w := range words[:min(len(words), maxFileWords)] {
		if !w.quoted && !w.isPath() && !w.isCamel() {
			continue
		}
		found := c.facts.find(w)
		if len(found) == 0 && !w.isPath() {
			found = c.facts.findStem(parts(w.text))
		}
		switch {
		case len(found) == 1:
			if !slices.Contains(out, found[0]) {
				out = append(out, found[0])
			}
		case len(found) > 1:
			c.say("There are several files %s: %s. Which one am I to %s? Name its full path.", code(w.text), codeList(found[:min(len(found), 8)]), verb)
			said = true
		case w.isPath() || w.quoted:
			c.sayMissing(w)
			said = true
		}
	}
	if len(out) > 0 || said {
		return out
	}
	return c.namedByWords(words, verb)
}

// namedByWords takes a name in plain words, "the old button component", or "this file".
func (c *conversation) namedByWords(words []word, verb string) []string {
	if found := c.facts.findStem(nameOf(words, true)); len(found) == 1 {
		return found
	}
	name := nameOf(slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.is(fileWords) || w.is(folderWords) }), true)
	if len(name) == 0 {
		if c.facts.CurrentFile != "" && c.facts.has(c.facts.CurrentFile) {
			return []string{c.facts.CurrentFile}
		}
		c.say("Which file am I to %s? Name its path, such as “%s /src/old.ts”.", verb, verb)
		return nil
	}
	found := c.facts.findStem(name)
	switch len(found) {
	case 1:
		return found
	case 0:
		c.say("I found no file called “%s” in the project. Name its path to have me %s it.", spoken(bounded(name)), verb)
	default:
		c.say("“%s” could be %s. Which one am I to %s? Name its path.", spoken(bounded(name)), codeList(found[:min(len(found), 8)]), verb)
	}
	return nil
}

// sayMissing says that there is no such file, and what comes near.
func (c *conversation) sayMissing(w word) {
	if c.facts.hasFolder("/" + strings.Trim(w.text, "/")) {
		c.say("%s is a folder. I take files one by one: name them.", code(w.text))
		return
	}
	near := c.facts.findStem(nameOfFile("/" + strings.TrimPrefix(w.text, "/")))
	if len(near) > 0 {
		c.say("The project has no file %s. Did you mean %s?", code(w.text), codeList(near[:min(len(near), 5)]))
		return
	}
	c.say("The project has no file %s.", code(w.text))
}
