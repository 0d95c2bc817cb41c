import { Link, useLocation } from "react-router-dom";
import { Button } from "@/components/ui/button";

const NotFound = () => {
  const { pathname } = useLocation();
  return (
    <div className="grid min-h-screen place-content-center gap-4 bg-muted p-6 text-center">
      <h1 className="text-6xl font-bold text-primary">404</h1>
      <p className="text-muted-foreground">There is no page {pathname}.</p>
      <Button asChild>
        <Link to="/">Return to the overview</Link>
      </Button>
    </div>
  );
};

export default NotFound;
