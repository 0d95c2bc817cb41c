package export

import "devplatform/shared/fault"

var errNotFound = fault.New(fault.CodeExportNotFound,
	"The export does not exist or has expired. Start a new export of the account.")
