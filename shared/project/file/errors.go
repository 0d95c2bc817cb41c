package file

import (
	"errors"
	"fmt"

	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// Errors of this package, in addition to the errors of package workspace and of preconditions.
var (
	errNotFound        = fault.New(fault.CodeFileNotFound, "The file does not exist. List the files to see all paths.")
	errVersionNotFound = fault.New(fault.CodeFileNotFound,
		"The file does not have this version. List the versions of the file.")
	errCurrentVersion = fault.New(fault.CodeConflict,
		"The current version cannot be deleted. Delete the file, or save other content first.")
	errFileExists     = fault.New(fault.CodeConflict, "A file with this path already exists. Choose another path.")
	errIsFolder       = fault.New(fault.CodeConflict, "This path is a folder that contains files. Choose another path.")
	errInsideFile     = fault.New(fault.CodeConflict, "A parent folder of this path is a file. Choose another path.")
	errUploadNotFound = fault.New(fault.CodeUploadNotFound, "The upload does not exist. Announce a new upload.")
	errNotUploaded    = fault.New(fault.CodeConflict,
		"The content was not uploaded. Send it with PUT to the upload's URL. If the URL has expired, announce a new upload.")
	errUploadExpired  = fault.New(fault.CodeConflict, "The upload has expired. Announce a new upload.")
	errTooManyUploads = fault.New(fault.CodeRateLimited, fmt.Sprintf(
		"The project has reached its limit of %d open uploads. Complete them, or wait until their URLs expire.",
		maxOpenUploads))
	// errUploadCompleted reports to CompleteUpload that another request has completed the upload.
	errUploadCompleted = errors.New("file: the upload is completed")
	// errInvalidBatch is the error of ApplyBatch for invalid operations. Its cause lists the validation problems.
	errInvalidBatch = fault.New(fault.CodeValidationFailed,
		"The changes are not valid. Check the file paths, the file contents and the size of the batch.")
	// errNoRoom is the cause of the errors of requests for which there can be room if expired uploads are released.
	errNoRoom = errors.New("file: the project has no room")
	// errMustRecount reports that the bytes of old versions must be counted again before the operations can be planned,
	// because the quota is reached and versions may have expired.
	errMustRecount = errors.New("file: the bytes of old versions must be counted")
	// errMissingContent reports that the content of a file was deleted after the file's record was read, because the
	// version expired or the project was deleted.
	errMissingContent = fmt.Errorf("%w: the content of a file is missing", db.ErrStale)
)

// operationError reports which operation failed. It wraps the cause, which is usually a *fault.Error.
type operationError struct {
	index int
	cause error
}

func (e *operationError) Error() string { return fmt.Sprintf("operation %d: %v", e.index, e.cause) }
func (e *operationError) Unwrap() error { return e.cause }

// withOperationIndex adds the index of the failed operation to the message for the client.
func withOperationIndex(err error) error {
	failed, isOperation := errors.AsType[*operationError](err)
	cause, isFault := errors.AsType[*fault.Error](err)
	if !isOperation || !isFault {
		return err
	}
	return atOperation(failed.index, cause).WithCause(err)
}

func atOperation(i int, cause *fault.Error) *fault.Error {
	return fault.New(cause.Code, fmt.Sprintf("operations[%d]: %s", i, cause.Message))
}
