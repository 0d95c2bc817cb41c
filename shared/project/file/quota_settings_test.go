package file_test

import (
	"strconv"
	"strings"
	"testing"

	"devplatform/shared/config"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
)

func TestQuotaSettings(t *testing.T) {
	const largest = content.MaxUpload >> 20 // a larger file than the quota could not be replaced or deleted
	for _, name := range []string{"LIMIT_OLD_VERSIONS_MIB", "LIMIT_WRITTEN_MIB_DAY"} {
		t.Setenv(name, strconv.Itoa(largest))
		if _, err := config.Load[file.QuotaSettings](); err != nil {
			t.Error(err)
		}
		t.Setenv(name, strconv.Itoa(largest-1))
		if _, err := config.Load[file.QuotaSettings](); err == nil || !strings.Contains(err.Error(), name+"=24") {
			t.Errorf("%s: got error %v, want one that names the variable", name, err)
		}
		t.Setenv(name, "")
	}
}
