// Command project-cleanup is the Lambda function that reads the stream of events: it deletes the data of deleted
// projects, and sets an expiry time on file contents that were replaced. A schedule starts it every day to remove the
// objects to which no record refers.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
