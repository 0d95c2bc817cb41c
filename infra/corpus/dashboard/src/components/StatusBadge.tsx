import { Badge, type BadgeProps } from "@/components/ui/badge";
import type { Order } from "@/data/sample";

const variants: Record<Order["status"], BadgeProps["variant"]> = {
  paid: "success",
  pending: "warning",
  refunded: "destructive",
};

export const StatusBadge = ({ status }: { status: Order["status"] }) => (
  <Badge variant={variants[status]} className="capitalize">
    {status}
  </Badge>
);
