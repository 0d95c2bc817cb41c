package build

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

const maxWarnings = 100

var (
	unresolved    = regexp.MustCompile(`^Could not resolve "`)
	relativeFile  = regexp.MustCompile(`\b(in|to) "([^"/.][^":]*)"`)
	internalNames = regexp.MustCompile(`\b(?:[a-z]+-)?(?:page|raw|url|inline|init|react|worker|sharedworker|component|style|public|empty|importmap|global):/`)
)

// failure returns the first of the bundler's errors about the project, or nil. Panics of the bundler are not a
// *failure.Error.
func (b *bundler) failure(messages []api.Message) error {
	var first *failure.Error
	for _, m := range messages {
		if strings.HasPrefix(m.Text, "panic:") {
			return errors.New("the bundler panicked while it read " + location(m))
		}
		var own *failure.Error
		if err, _ := m.Detail.(error); err != nil && !errors.As(err, &own) { // also of the bundler of a worker
			return fmt.Errorf("%w: %s", err, location(m))
		}
		if first == nil { // a project can have thousands of errors
			first = b.translate(m)
		}
	}
	switch {
	case first != nil:
		return first
	case len(messages) > 0: // about a file outside, such as a package.json above the folder of the build
		return errors.New("the bundler failed because of a file outside of the folder")
	}
	return nil
}

func location(m api.Message) string {
	if m.Location == nil {
		return "an entry"
	}
	return m.Location.File
}

// isOutside reports whether a message is about a file outside of the project.
func isOutside(l *api.Location) bool {
	return l != nil && (strings.HasPrefix(l.File, "/") || l.File == ".." || strings.HasPrefix(l.File, "../"))
}

// translate returns the error for one of the bundler's messages, with the position in the project. It returns nil for a
// message about a file outside, or about a folder that cannot be read.
func (b *bundler) translate(m api.Message) *failure.Error {
	var own *failure.Error
	if err, _ := m.Detail.(error); err != nil {
		_ = errors.As(err, &own)
	}
	if isOutside(m.Location) || m.Location == nil && own == nil {
		return nil
	}
	f := &failure.Error{Code: failure.BuildFailed, Message: b.clean(m.Text)}
	if own != nil {
		f.Code, f.Message = own.Code, own.Message
		if own.Path != "" || m.Location == nil {
			f.Path, f.Line, f.Column = own.Path, own.Line, own.Column
			return f
		}
	}
	importer, ok := b.place(f, m.Location)
	if !ok {
		if own == nil {
			f.Message = "The bundler could not build the project."
		}
		return f
	}
	if own == nil && unresolved.MatchString(m.Text) || own == errOutside {
		b.explain(f, importer, m)
	}
	return f
}

// place sets the position of a message, and returns the file of the project to which it belongs. ok is false if the
// module is not a file.
func (b *bundler) place(f *failure.Error, l *api.Location) (importer string, ok bool) {
	f.Line, f.Column = l.Line, column(l)
	if key, isPage := strings.CutPrefix(l.File, nsPage+":"); isPage {
		e := b.inline[key]
		f.Path, f.Line = e.file, e.line+l.Line-1
	} else if style, isStyle := strings.CutPrefix(l.File, nsStyle+":"); isStyle {
		f.Path, _, _ = strings.Cut(style, "?")
	} else if namespaced.MatchString(l.File) {
		f.Line, f.Column = 0, 0
		return "", false
	} else {
		f.Path = "/" + l.File
		if source, err := b.tree.Read(f.Path); err == nil && component.IsComponent(f.Path) {
			f.Line, f.Column = sourcePlace(trimBOM(source), l.LineText, l.Column, l.Length)
		}
	}
	return f.Path, true
}

// explain replaces the message about a reference that has no file, or a file outside.
func (b *bundler) explain(f *failure.Error, importer string, m api.Message) {
	l := m.Location
	end := min(l.Column+l.Length, len(l.LineText))
	spec := strings.Trim(l.LineText[min(l.Column, end):end], "\"'`")
	if m.Detail == nil {
		if _, rest, ok := strings.Cut(m.Text, `"`); ok && strings.LastIndexByte(rest, '"') > 0 {
			spec = rest[:strings.LastIndexByte(rest, '"')]
		}
	}
	own := b.missing(importer, spec)
	f.Code, f.Message = own.Code, own.Message
}

// clean removes the names of the build from a text.
func (b *bundler) clean(text string) string {
	text = strings.ReplaceAll(text, b.dir, "")
	text = internalNames.ReplaceAllString(text, "/")
	return relativeFile.ReplaceAllString(text, `$1 "/$2"`)
}

// column returns the column in characters, counted from 1.
func column(l *api.Location) int {
	return utf8.RuneCountInString(l.LineText[:min(l.Column, len(l.LineText))]) + 1
}

// warnings returns the warnings about the project's own files.
func (b *bundler) warnings(messages []api.Message) []string {
	var all []string
	for _, m := range messages {
		if len(all) == maxWarnings {
			break
		}
		if f := b.translate(m); f != nil && f.Path != "" && !tree.IsInPackage(f.Path) {
			all = append(all, lineAt(f))
		}
	}
	return slices.Compact(all)
}

// lineAt returns the line of the log for a message about a file.
func lineAt(f *failure.Error) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", f.Path, f.Line, f.Column, f.Message)
	}
	return f.Path + ": " + f.Message
}

func quote(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return fmt.Sprintf("%q", s)
}

func failf(code failure.Code, format string, args ...any) *failure.Error {
	return &failure.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
