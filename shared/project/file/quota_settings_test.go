package file_test

import (
	"strings"
	"testing"

	"devplatform/shared/project/file"
)

// Settings that are smaller than the largest file are not valid: it could not be replaced or deleted.
func TestQuotaSettings(t *testing.T) {
	t.Parallel()
	got, err := file.QuotaSettings{OldVersions: 400, WrittenPerDay: 2048}.Quotas()
	if err != nil || got != file.DefaultQuotas() {
		t.Errorf("got the quotas %+v and error %v, want the defaults", got, err)
	}
	for name, s := range map[string]file.QuotaSettings{
		"LIMIT_OLD_VERSIONS_MIB=24": {OldVersions: 24, WrittenPerDay: 25},
		"LIMIT_WRITTEN_MIB_DAY=-1":  {OldVersions: 25, WrittenPerDay: -1},
	} {
		if _, err := s.Quotas(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want one that names the variable", name, err)
		}
	}
}
