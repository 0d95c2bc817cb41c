package file

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// The limits of a batch. They keep its transaction within DynamoDB's 100 actions and 4 MB.
const (
	maxOperations   = 20
	maxBatchContent = 3 << 20 // bytes, decoded
	// maxFolders limits the number of parent folders of the paths that a batch creates, because each folder is read.
	maxFolders = 500
)

// Quotas limit the number and the total size of a project's files, and the bytes that a user writes.
type Quotas struct {
	Files         int
	Bytes         int // of the current contents, decoded
	OldBytes      int // of the replaced versions, decoded
	WrittenPerDay int // bytes of new content, decoded
}

// DefaultQuotas returns the quotas that apply if the environment sets no others.
func DefaultQuotas() Quotas { return config.Defaults[QuotaSettings]().Quotas() }

// QuotaSettings are the quotas that environment variables set, in MiB. Their minimum is content.MaxUpload: with a
// smaller quota, the largest file could not be replaced or deleted.
type QuotaSettings struct {
	OldVersions   int `env:"LIMIT_OLD_VERSIONS_MIB" envDefault:"400" min:"25" max:"1073741824"`
	WrittenPerDay int `env:"LIMIT_WRITTEN_MIB_DAY" envDefault:"2048" min:"25" max:"1073741824"`
}

// Quotas returns the quotas with these settings.
func (s QuotaSettings) Quotas() Quotas {
	return Quotas{Files: 5000, Bytes: 200 << 20, OldBytes: s.OldVersions << 20, WrittenPerDay: s.WrittenPerDay << 20}
}

func errFileQuota(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		fmt.Sprintf("The project has reached its limit of %d files. Delete files first.", quotas.Files))
}

func errStorageQuota(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"The project has reached its limit of "+inMiB(quotas.Bytes)+" of file content. Delete or shorten files first. "+
			"Open uploads count, too, until they are completed or expire.").
		WithCause(errNoRoom)
}

func errOldQuota(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded, "The project has reached its limit of "+inMiB(quotas.OldBytes)+
		" of old file versions. Delete old versions first, or wait until they expire, 30 days after they were replaced.")
}

func errWrittenQuota(quotas Quotas) *fault.Error {
	return fault.New(fault.CodeQuotaExceeded,
		"You have reached your limit of "+inMiB(quotas.WrittenPerDay)+" of written content a day. "+
			"Try again after midnight UTC.")
}

func inMiB(bytes int) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// countWritten returns the write that counts the bytes that a user writes on a day (UTC). Error: QUOTA_EXCEEDED.
func (s store) countWritten(userID string, at time.Time, n int) db.Write {
	return s.counters.Add(s.writtenRule(), userID, at, n).Else(errWrittenQuota(s.quotas))
}

func (s store) writtenRule() limit.Rule {
	return limit.Rule{Name: "written", Limit: s.quotas.WrittenPerDay, Window: 24 * time.Hour}
}

// makeRoom handles the error of an attempt to write. If the project has no room, but old versions or uploads may have
// expired, makeRoom subtracts their bytes, and returns db.ErrStale, so that the caller makes another attempt. In all
// other cases, it returns err. tree is the tree on which the attempt was based.
func (s *Service) makeRoom(ctx context.Context, projectID string, tree Tree, err error) error {
	switch {
	case errors.Is(err, errMustRecount):
		return s.store.recountOld(ctx, projectID, tree, s.now)
	case errors.Is(err, errNoRoom) && tree.Uploads > 0:
		return s.releaseExpired(ctx, projectID, tree, err)
	}
	return err
}
