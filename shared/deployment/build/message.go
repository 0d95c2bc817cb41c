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
	"devplatform/shared/deployment/sass"
	"devplatform/shared/deployment/tree"
)

// maxWarnings is the maximum number of warnings, and of notes, that a build returns.
const maxWarnings = 100

// lines are lines for the log.
type lines []string

// add adds a line, unless there are too many.
func (l *lines) add(format string, args ...any) {
	if len(*l) < maxWarnings {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}

// addOnce adds a line, unless it is there.
func (l *lines) addOnce(text string) {
	if !slices.Contains(*l, text) {
		l.add("%s", text)
	}
}

var (
	unresolvedMessage = regexp.MustCompile(`^Could not resolve "`)
	relativeFile      = regexp.MustCompile(`\b(in|to) "([^"/.][^":]*)"`)
	internalNames     = regexp.MustCompile(`\b(?:[a-z]+-)?(?:page|raw|url|inline|init|react|worker|sharedworker|component|style|public|empty|importmap|global):/`)
)

// failure returns the first of the bundler's errors about the project, or nil. Panics of the bundler are not a
// *failure.Error.
func (b *bundler) failure(messages []api.Message) error {
	var first *failure.Error
	for _, m := range messages {
		if strings.HasPrefix(m.Text, "panic:") {
			return errors.New("the bundler panicked while it read " + location(m))
		}
		err, _ := m.Detail.(error) // the error of a callback, or of the bundler of a worker
		if _, isPluginErr := errors.AsType[*failure.Error](err); err != nil && !isPluginErr {
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
	return strings.HasPrefix(l.File, "/") || l.File == ".." || strings.HasPrefix(l.File, "../")
}

// translate returns the error for one of the bundler's messages, with the position in the project. It returns nil for a
// message about a file outside, and for a message of the bundler itself without a position.
func (b *bundler) translate(m api.Message) *failure.Error {
	err, _ := m.Detail.(error)
	pluginErr, _ := errors.AsType[*failure.Error](err)
	if m.Location == nil && pluginErr == nil || m.Location != nil && isOutside(m.Location) {
		return nil
	}
	f := failf(failure.BuildFailed, "%s", b.withoutInternalNames(m.Text))
	if pluginErr != nil && (pluginErr.Path != "" || m.Location == nil) {
		return pluginErr
	} else if pluginErr != nil {
		f.Code, f.Message = pluginErr.Code, pluginErr.Message
	}
	b.setPosition(f, m.Location)
	switch {
	case f.Path == "" && pluginErr == nil:
		f.Message = "The bundler could not build the project."
	case f.Path != "" && (pluginErr == nil && unresolvedMessage.MatchString(m.Text) || pluginErr == errOutside):
		b.explain(f, m)
	}
	return f
}

// setPosition sets the position of a message in the file of the project to which it belongs, unless the module is not a
// file.
func (b *bundler) setPosition(f *failure.Error, l *api.Location) {
	key, isPage := strings.CutPrefix(l.File, nsPage+":")
	switch {
	case isPage:
		e := b.inline[key]
		f.Path, f.Line = e.file, e.line+l.Line-1
	case strings.HasPrefix(l.File, nsStyle+":"):
		f.Path, _, _ = strings.Cut(strings.TrimPrefix(l.File, nsStyle+":"), "?")
		f.Line = l.Line
		if strings.HasSuffix(l.File, "?"+sassStyle) {
			b.setCompiledPosition(f, l)
			return
		}
	case namespacedInput.MatchString(l.File):
		return
	case component.IsComponent(l.File), sass.IsSass(l.File):
		f.Path = "/" + l.File
		b.setCompiledPosition(f, l)
		return
	default:
		f.Path, f.Line = "/"+l.File, l.Line
	}
	f.Column = column(l)
}

// setCompiledPosition sets the position in a file that was compiled before it was bundled.
func (b *bundler) setCompiledPosition(f *failure.Error, l *api.Location) {
	if source, err := b.tree.Read(f.Path); err == nil {
		f.Line, f.Column = sourcePosition(trimBOM(source), l.LineText, l.Column, l.Length)
	}
}

// explain replaces the message about a reference that has no file, or a file outside.
func (b *bundler) explain(f *failure.Error, m api.Message) {
	l := m.Location
	end := min(l.Column+l.Length, len(l.LineText))
	spec := strings.Trim(l.LineText[min(l.Column, end):end], "\"'`")
	if m.Detail == nil {
		if _, rest, ok := strings.Cut(m.Text, `"`); ok && strings.LastIndexByte(rest, '"') > 0 {
			spec = rest[:strings.LastIndexByte(rest, '"')]
		}
	}
	missing := b.errMissing(f.Path, spec)
	f.Code, f.Message = missing.Code, missing.Message
}

// withoutInternalNames returns a text without the names that only the build uses.
func (b *bundler) withoutInternalNames(text string) string {
	text = strings.ReplaceAll(text, b.dir, "")
	text = internalNames.ReplaceAllString(text, "/")
	return relativeFile.ReplaceAllString(text, `$1 "/$2"`)
}

// column returns the column in characters, counted from 1.
func column(l *api.Location) int {
	return utf8.RuneCountInString(l.LineText[:min(l.Column, len(l.LineText))]) + 1
}

// logWarnings adds the bundler's warnings about the project's own files to the log.
func (b *bundler) logWarnings(messages []api.Message) {
	for _, m := range messages[:min(len(messages), 10*maxWarnings)] { // most can be about packages
		if f := b.translate(m); f != nil && f.Path != "" && !tree.IsInPackage(f.Path) {
			b.warn(lineAt(f))
		}
	}
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

// failIn is like failf, for an error in a file.
func failIn(file string, code failure.Code, format string, args ...any) *failure.Error {
	return &failure.Error{Code: code, Path: file, Message: fmt.Sprintf(format, args...)}
}
