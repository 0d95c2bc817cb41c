package setting_test

import (
	"strings"
	"testing"

	"devplatform/shared/project/setting"
)

func TestRootDirs(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{
		"/client", "/apps/my site", "/a.b/c..d", "/node_modules2", "/x/" + strings.Repeat("a", 255),
	} {
		if rule := setting.CheckRootDir(dir); rule != "" {
			t.Errorf("%.80q: got the rule %q, want none", dir, rule)
		}
	}
	for _, dir := range []string{
		"", "/", "client", "/client/", "/a//b", "/a/../b", "/.", "/.git", "/a/.well-known", "/node_modules",
		"/a/node_modules/b", "/a\\b", "/a\x00", "/\xff", "/cafe\u0301", "/" + strings.Repeat("a", 256),
	} {
		if setting.CheckRootDir(dir) == "" {
			t.Errorf("%.80q is allowed", dir)
		}
	}
}

func TestDeployableFrameworks(t *testing.T) {
	t.Parallel()
	for framework, want := range map[string]bool{
		"static": true, "react": true, " React\t": true, "STATIC": true, "vue": true, "svelte": true,
		"": false, "nextjs": false, "react native": false, "static\x00": false,
	} {
		if got := setting.IsDeployable(framework); got != want {
			t.Errorf("%q: got %t, want %t", framework, got, want)
		}
	}
}
