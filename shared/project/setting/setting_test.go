package setting_test

import (
	"strings"
	"testing"

	"devplatform/shared/project/setting"
)

func TestRootDirs(t *testing.T) {
	t.Parallel()
	for dir, valid := range map[string]bool{
		"/client": true, "/apps/my site": true, "/a.b/c..d": true, "/node_modules2": true,
		"/x/" + strings.Repeat("a", 255): true,
		"": false, "/": false, "client": false, "/client/": false, "/a//b": false, "/a/../b": false, "/.": false,
		"/.git": false, "/a/.well-known": false, "/node_modules": false, "/a/node_modules/b": false, "/a\\b": false,
		"/a\x00": false, "/\xff": false, "/cafe\u0301": false, "/" + strings.Repeat("a", 256): false,
	} {
		if rule := setting.CheckRootDir(dir); (rule == "") != valid {
			t.Errorf("%.80q: got the rule %q, want valid: %t", dir, rule, valid)
		}
	}
}
