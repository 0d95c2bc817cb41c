import { useEffect } from 'react';
import { MapContainer, Marker, Polygon, Polyline, Popup, ScaleControl, useMap } from 'react-leaflet';
import { contours, Hut, huts, lake, trail } from '../data/huts';

function FlyTo({ hut }: { hut: Hut | undefined }) {
  const map = useMap();
  useEffect(() => {
    if (hut) map.flyTo(hut.at, 14, { duration: 0.8 });
  }, [map, hut]);
  return null;
}

interface HutMapProps {
  shown: Hut[];
  selected: string | null;
  onSelect: (id: string) => void;
}

export function HutMap({ shown, selected, onSelect }: HutMapProps) {
  return (
    <MapContainer center={[46.635, 10.745]} zoom={12} scrollWheelZoom attributionControl={false}>
      {contours.map((points, index) => (
        <Polygon key={index} positions={points} pathOptions={{ color: '#8a7b5c', weight: 1, fillColor: '#c9b98f', fillOpacity: 0.22 }} />
      ))}
      <Polygon positions={lake} pathOptions={{ color: '#3b82a6', fillColor: '#7cc0de', fillOpacity: 0.9, weight: 1 }} />
      <Polyline positions={trail} pathOptions={{ color: '#c2410c', dashArray: '6 8', weight: 3 }} />
      {shown.map((hut) => (
        <Marker key={hut.id} position={hut.at} title={hut.name} eventHandlers={{ click: () => onSelect(hut.id) }}>
          <Popup>
            <strong>{hut.name}</strong>
            <br />
            {hut.height} m, {hut.beds} beds
          </Popup>
        </Marker>
      ))}
      <FlyTo hut={huts.find(({ id }) => id === selected)} />
      <ScaleControl imperial={false} />
    </MapContainer>
  );
}
