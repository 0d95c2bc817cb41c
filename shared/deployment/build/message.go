package build

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

const maxWarnings = 100

var (
	namespaceNames = regexp.MustCompile(`\bdeployment-(?:file|url|text|public|empty|inline|worker):`)
	unresolved     = regexp.MustCompile(`^Could not resolve "`)
)

// failure returns the first of the bundler's errors, or nil. Panics of the bundler are not a *failure.Error.
func (p *plugin) failure(messages []api.Message) error {
	for _, m := range messages {
		if strings.HasPrefix(m.Text, "panic:") {
			return errors.New("the bundler panicked while it read " + namespaceNames.ReplaceAllString(location(m), ""))
		}
		var own *failure.Error
		if err := detail(m); err != nil && !errors.As(err, &own) { // also of the bundler of a worker
			return fmt.Errorf("%w: %s", err, location(m))
		}
	}
	if len(messages) == 0 {
		return nil
	}
	return p.translate(messages[0])
}

func detail(m api.Message) error {
	err, _ := m.Detail.(error)
	return err
}

func location(m api.Message) string {
	if m.Location == nil {
		return "an entry"
	}
	return m.Location.File
}

// translate returns the error for one of the bundler's messages, with the position in the project.
func (p *plugin) translate(m api.Message) *failure.Error {
	f := &failure.Error{Code: failure.BuildFailed, Message: clean(m.Text)}
	var own *failure.Error
	if errors.As(detail(m), &own) {
		f.Code, f.Message = own.Code, own.Message
		if own.Path != "" || m.Location == nil {
			f.Path, f.Line, f.Column = own.Path, own.Line, own.Column
			return f
		}
	}
	if m.Location == nil {
		return f
	}
	namespace, file, _ := strings.Cut(m.Location.File, ":")
	f.Line, f.Column = m.Location.Line, column(m.Location)
	switch namespace {
	case nsInline:
		e := p.inline[file]
		f.Path, f.Line = e.file, f.Line+e.line-1
		if m.Location.Line > 1+len(lineEnds.FindAllStringIndex(e.code, -1)) {
			f.Line, f.Column = 0, 0 // an import that metaRewriter added
		}
	case nsFile:
		f.Path = file
		if data, _ := p.resolver.read(file); f.Line > 1+len(lineEnds.FindAllIndex(data, -1)) {
			f.Line, f.Column = 0, 0 // an import that metaRewriter added
		}
	default:
		f.Line, f.Column = 0, 0
		if own == nil {
			f.Message = "The bundler could not build the project."
		}
		return f
	}
	if own == nil && unresolved.MatchString(m.Text) {
		p.unresolved(f, file, m.Text)
	}
	return f
}

// unresolved turns the bundler's message about an import into the error that the resolver has kept.
func (p *plugin) unresolved(f *failure.Error, file, text string) {
	importer := file
	if e, ok := p.inline[file]; ok {
		importer = e.file
	}
	spec, err := strconv.Unquote(strings.TrimPrefix(text, "Could not resolve "))
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if own := p.missing[[2]string{importer, spec}]; own != nil {
		f.Code, f.Message = own.Code, own.Message
	}
}

func clean(text string) string { return namespaceNames.ReplaceAllString(text, "") }

// column returns the column in characters, counted from 1.
func column(l *api.Location) int {
	return utf8.RuneCountInString(l.LineText[:min(l.Column, len(l.LineText))]) + 1
}

// warnings returns the warnings about the project's own files.
func (p *plugin) warnings(messages []api.Message) []string {
	var all []string
	for _, m := range messages {
		f := p.translate(m)
		if f.Path == "" || isInPackage(f.Path) {
			continue
		}
		place := f.Path
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column)
		}
		if all = append(all, place+": "+f.Message); len(all) == maxWarnings {
			break
		}
	}
	return slices.Compact(all)
}

// messageAt returns an error at an offset of a file. The error shares the memory of text.
func messageAt(namespace, name, text string, offset int, f *failure.Error) api.Message {
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	end := strings.IndexByte(text[offset:], '\n')
	if end < 0 {
		end = len(text) - offset
	}
	return api.Message{Text: f.Message, Detail: f, Location: &api.Location{
		File: name, Namespace: namespace, Line: strings.Count(text[:offset], "\n") + 1, Column: offset - start,
		LineText: text[start : offset+end],
	}}
}
