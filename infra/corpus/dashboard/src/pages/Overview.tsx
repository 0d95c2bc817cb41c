import { useQuery } from "@tanstack/react-query";
import { CreditCard, Download, ShoppingBag, TrendingUp, Users } from "lucide-react";
import { Link } from "react-router-dom";
import { ChannelChart } from "@/components/ChannelChart";
import { DateRangePicker } from "@/components/DateRangePicker";
import { RevenueChart } from "@/components/RevenueChart";
import { StatCard } from "@/components/StatCard";
import { StatusBadge } from "@/components/StatusBadge";
import { Avatar, AvatarFallback } from "@/components/ui/avatar";
import { Button } from "@/components/ui/button";
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";
import { Progress } from "@/components/ui/progress";
import { Skeleton } from "@/components/ui/skeleton";
import { goals, orders } from "@/data/sample";
import { toast } from "@/hooks/use-toast";
import { money } from "@/lib/utils";

const Overview = () => {
  const { data: recent } = useQuery({
    queryKey: ["recent-orders"],
    queryFn: async () => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return orders.slice(0, 5);
    },
  });

  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div>
          <h1 className="page-title">Good morning, Rosa</h1>
          <p className="mt-1 text-sm text-muted-foreground">October is your best month so far.</p>
        </div>
        <div className="flex flex-wrap gap-2">
          <DateRangePicker />
          <Button size="sm" onClick={() => toast({ title: "Report is ready", description: "october.csv has 34 rows." })}>
            <Download /> Export
          </Button>
        </div>
      </div>

      <div className="grid grid-cols-2 gap-3 sm:gap-4 lg:grid-cols-4">
        <StatCard label="Revenue" value="$34,870" change={12.4} icon={TrendingUp} />
        <StatCard label="Orders" value="612" change={8.1} icon={ShoppingBag} />
        <StatCard label="Customers" value="284" change={3.9} icon={Users} />
        <StatCard label="Refunds" value="$1,240" change={-2.2} icon={CreditCard} />
      </div>

      <div className="grid gap-4 lg:grid-cols-3">
        <RevenueChart />
        <ChannelChart />
      </div>

      <div className="grid gap-4 lg:grid-cols-3">
        <Card className="lg:col-span-2">
          <CardHeader className="flex-row items-center justify-between space-y-0">
            <CardTitle>Recent orders</CardTitle>
            <Button variant="link" size="sm" asChild>
              <Link to="/orders">All orders</Link>
            </Button>
          </CardHeader>
          <CardContent className="grid gap-4">
            {!recent && Array.from({ length: 5 }, (_, index) => <Skeleton key={index} className="h-9" />)}
            {recent?.map((order) => (
              <div key={order.id} className="flex items-center gap-3 text-sm">
                <Avatar>
                  <AvatarFallback>{order.customer.split(" ").map((part) => part[0])}</AvatarFallback>
                </Avatar>
                <div className="min-w-0 flex-1">
                  <p className="truncate font-medium">{order.customer}</p>
                  <p className="text-xs text-muted-foreground">{order.id}</p>
                </div>
                <StatusBadge status={order.status} />
                <span className="w-16 text-right font-medium tabular-nums">{money(order.amount)}</span>
              </div>
            ))}
          </CardContent>
        </Card>
        <Card>
          <CardHeader>
            <CardTitle>Goals</CardTitle>
            <CardDescription>Fourth quarter</CardDescription>
          </CardHeader>
          <CardContent className="grid gap-5">
            {goals.map((goal) => (
              <div key={goal.name} className="grid gap-2 text-sm">
                <div className="flex justify-between">
                  <span className="font-medium">{goal.name}</span>
                  <span className="tabular-nums text-muted-foreground">{goal.value} %</span>
                </div>
                <Progress value={goal.value} />
                <p className="text-xs text-muted-foreground">{goal.note}</p>
              </div>
            ))}
          </CardContent>
        </Card>
      </div>
    </>
  );
};

export default Overview;
