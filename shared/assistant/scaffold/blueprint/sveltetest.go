package blueprint

import (
	"fmt"
	"strings"
)

// test is a test of a thing that the project has, or, if it has none of that name, of one that is made with it.
func (v *svelteProject) test() (Result, error) {
	if v.SubjectPath != "" {
		return v.testOfExisting()
	}
	v.Kind = v.Subject
	subject, err := v.build()
	if err != nil {
		return Result{}, err
	}
	data, template := v.drawn, v.template
	made := subject.Files[0].Path
	path := v.testFile(made, data.extension())
	file, folder, packages := v.testTemplate(template)
	data.Shallow = data.Part != nil && !data.LoadsHere && !data.LoadsThere
	if file == "component.test.js" {
		data.Shape = stem(template)
	}
	if file == "server.test.js" {
		made = subject.Files[len(subject.Files)-1].Path
	}
	data.Part = &part{Name: data.Name, Import: v.testImport(path, made)}
	test, err := v.make(folder, file, data, path, "")
	if err != nil {
		return Result{}, err
	}
	test.Files = append(test.Files, subject.Files...)
	test.Packages = append(subject.Packages, packages...)
	test.Says = fmt.Sprintf("The project had nothing of that name, so it comes with the test. Run it with `npx vitest run %s`%s", path[1:], inBrowser(packages))
	return test, nil
}

// testTemplate is which template tests what another one made, and what that needs.
func (v *svelteProject) testTemplate(template string) (file, folder string, packages []string) {
	switch template {
	case "client.js", "helper.js":
		return "vitest-" + template, "static", []string{vitest}
	case "store.svelte.js":
		return "store.test.js", "svelte", []string{vitest}
	case "rune.svelte.js":
		return "rune.test.js", "svelte", []string{jsdom, vitest}
	case "records.js":
		return "server.test.js", "svelte", []string{vitest}
	case "form.svelte":
		return "form.test.js", "svelte", []string{svelteTesting, userEvent, jsdom, vitest}
	case "list.svelte":
		return "list.test.js", "svelte", []string{svelteTesting, userEvent, jsdom, vitest}
	case "page.svelte":
		return "page.test.js", "svelte", []string{svelteTesting, jsdom, vitest}
	case "content.svelte":
		return "component.test.js", "svelte", []string{svelteTesting, jsdom, vitest}
	}
	return "component.test.js", "svelte", []string{svelteTesting, userEvent, jsdom, vitest}
}

// inBrowser says what tests of components need beside their packages.
func inBrowser(packages []string) string {
	if isOneOf(svelteTesting, packages) {
		return "; the plugins in `vite.config` need `svelteTesting()` of `@testing-library/svelte/vite` for it."
	}
	return "."
}

// testImport is how a test imports a file: Svelte's own with their extension.
func (v *svelteProject) testImport(from, to string) string {
	if isScript(to) && !hasSuffix(stem(to), ".svelte") {
		return imported(from, to)
	}
	if module, ok := strings.CutSuffix(to, ".svelte.ts"); ok {
		to = module + ".svelte.js" // as TypeScript wants its own files to be imported
	}
	return importPath(from, to)
}

func (v *svelteProject) testOfExisting() (Result, error) {
	v.TypeScript = v.TypeScript || hasSuffix(v.SubjectPath, ".ts")
	path := v.testFile(v.SubjectPath, sheet{TS: v.TypeScript}.extension())
	data := existing(v.Spec, path)
	data.Part.Import = v.testImport(path, v.SubjectPath)
	says := fmt.Sprintf("It holds for any subject, for what yours does is not known here: add what it is to do. Run it with `npx vitest run %s`", path[1:])
	if !hasSuffix(v.SubjectPath, ".svelte") {
		result, err := v.make("static", "vitest-module.js", data, path, says+".")
		result.Packages = []string{vitest}
		return result, err
	}
	packages := []string{svelteTesting, jsdom, vitest}
	result, err := v.make("svelte", "existing-component.test.js", data, path, says+inBrowser(packages))
	result.Packages = packages
	return result, err
}
