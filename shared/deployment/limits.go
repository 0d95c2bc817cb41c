package deployment

import (
	"time"

	"devplatform/shared/limit"
)

// Limits are the limits of requests to deploy. The account of a project is the user who owns its workspace.
type Limits struct {
	// ProjectMinute is the maximum number of deployments of a project that can be requested in one minute.
	ProjectMinute int `env:"LIMIT_DEPLOYMENTS_MINUTE" envDefault:"10" min:"1"`
	// AccountDay is the maximum number of deployments of an account that can be requested in one day.
	AccountDay int `env:"LIMIT_DEPLOYMENTS_DAY" envDefault:"200" min:"1"`
}

// StorageSettings set the limit of the stored output of an account.
type StorageSettings struct {
	GiB int `env:"LIMIT_SITE_STORAGE_GIB" envDefault:"10" min:"1" max:"1048576"`
}

// Bytes returns the limit in bytes.
func (s StorageSettings) Bytes() int { return s.GiB << 30 }

// labelRule limits how often the labels of a workspace can change. Each change reserves the old label for 30 days.
var labelRule = limit.Rule{Name: "labels", Limit: 20, Window: 24 * time.Hour}
