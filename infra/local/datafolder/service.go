package datafolder

import (
	"cmp"
	"log/slog"
	"time"
)

// ServiceOptions configure a service that keeps its records in a folder.
type ServiceOptions struct {
	Folder  *Folder          // nil keeps everything in memory
	Now     func() time.Time // the clock; required
	Logger  *slog.Logger     // nil discards
	Region  string           // in ARNs and signatures; default "us-east-1"
	Account string           // the owner of the resources, in ARNs and URLs; default "000000000000"
}

// Complete sets the defaults, except a folder.
func (o *ServiceOptions) Complete() {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
}

// OrMemory completes the options, and returns the folder, or a new one in memory. The service calls [Folder.Leave].
func (o *ServiceOptions) OrMemory() (*Folder, error) {
	o.Complete()
	if o.Folder != nil {
		return o.Folder, nil
	}
	return Open(Options{})
}
