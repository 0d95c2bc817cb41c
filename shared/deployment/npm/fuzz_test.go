package npm_test

import (
	"testing"

	"devplatform/shared/deployment/npm"
)

// FuzzSelect checks that no package.json and no package-lock.json causes a panic.
func FuzzSelect(f *testing.F) {
	f.Add(`{"dependencies":{"a":"^1","@b/c":"npm:d@1 || 2"}}`, lockOf(
		entry("node_modules/a", "1.0.0", "sha512-x", `,"peerDependencies":{"e":"*"},"bundleDependencies":true`),
		entry("node_modules/@b/c", "2.0.0", "", `,"name":"d","os":"linux"`),
		entry("node_modules/a/node_modules/e", "1.0.0", "", ""), entry("packages/x", "", "", "")))
	f.Add(`{"optionalDependencies":{"":""},"peerDependenciesMeta":{"a":null}}`, `{"packages":{"":null}}`)
	f.Fuzz(func(t *testing.T, manifest, lock string) {
		_, _ = npm.Select(t.Context(), []byte(manifest), []byte(lock))
	})
}
