package blueprint

import "strings"

// npmRanges are the versions of the packages that blueprints import.
func npmRanges() [][2]string {
	return [][2]string{
		{"zod", "^4.6.0"},
		{"zustand", "^5.1.0"},
		{"vitest", "^4.1.0"},
		{"@vitejs/plugin-react", "^6.3.0"},
		{"@testing-library/jest-dom", "^6.9.0"},
		{"@testing-library/react", "^16.3.0"},
		{"@testing-library/user-event", "^14.6.0"},
		{"supertest", "^7.3.0"},
	}
}

// npmPackages are the packages that the files import, as name@range, but for those of base, which the project has. With jsdom comes
// what a test runs in, though no file imports it, and with a package without types of its own, those, where TypeScript wants them.
func npmPackages(files []File, base ...string) []string {
	var packages []string
	imports := func(what string) bool {
		for _, file := range files {
			if strings.Contains(file.Content, what) {
				return true
			}
		}
		return false
	}
	for _, known := range npmRanges() {
		if !isOneOf(known[0], base) && (imports("'"+known[0]+"'") || imports("'"+known[0]+"/")) {
			packages = append(packages, known[0]+"@"+known[1])
		}
	}
	if imports("@testing-library/react'") {
		packages = append(packages, "@testing-library/dom@^10.4.0") // its peer
	}
	if imports("@vitest-environment jsdom") {
		packages = append(packages, "jsdom@^29.1.0")
	}
	return packages
}
