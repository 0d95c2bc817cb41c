package blueprint

import "fmt"

// test is a test of a thing that the project has, or, if it has none of that name, of one that is made with it.
func (v *vueProject) test() (Result, error) {
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
	data.Shallow = data.Part != nil && !data.LoadsHere
	data.Part = &part{Name: stem(baseName(made)), Import: imported(path, made)}
	var test Result
	switch template {
	case "client.js", "helper.js":
		test, err = v.shared("vitest-"+template, data, path, "")
		test.Packages = []string{vitest}
	case "store.js":
		test, err = v.make("store.test.js", data, path, "")
		test.Packages = []string{vitest}
	case "composable.js":
		test, err = v.make("composable.test.js", data, path, "")
		test.Packages = []string{jsdom, vitest}
		if data.Shape == "media" {
			test.Packages = []string{vueTestUtils, jsdom, vitest}
		}
	case "form.vue", "list.vue", "page.vue":
		test, err = v.make(stem(template)+".test.js", data, path, "")
		test.Packages = []string{vueTestUtils, jsdom, vitest}
	default:
		data.Shape = stem(template)
		test, err = v.make("component.test.js", data, path, "")
		test.Packages = []string{vueTestUtils, jsdom, vitest}
	}
	if err != nil {
		return Result{}, err
	}
	test.Files = append(test.Files, subject.Files...)
	test.Packages = append(subject.Packages, test.Packages...)
	test.Says = fmt.Sprintf("The project had nothing of that name, so it comes with the test. Run it with `npx vitest run %s`.", path[1:])
	return test, nil
}

func (v *vueProject) testOfExisting() (Result, error) {
	v.TypeScript = v.TypeScript || hasSuffix(v.SubjectPath, ".ts", ".tsx")
	path := v.testFile(v.SubjectPath, sheet{TS: v.TypeScript}.extension())
	data := existing(v.Spec, path)
	says := fmt.Sprintf("It holds for any subject, for what yours does is not known here: add what it is to do. Run it with `npx vitest run %s`.", path[1:])
	if !hasSuffix(v.SubjectPath, ".vue") {
		result, err := v.shared("vitest-module.js", data, path, says)
		result.Packages = []string{vitest}
		return result, err
	}
	result, err := v.make("existing-component.test.js", data, path, says)
	result.Packages = []string{vueTestUtils, jsdom, vitest}
	return result, err
}
